// The records' part of validate_trace(): values, order, sizes, times, predecessors and bursts.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "traces/tools/survivors.hpp"
#include "traces/tools/validate_parts.hpp"

namespace replay {
namespace {

bool is_negative(Duration value) { return value < Duration::zero() && value != kUnknownTime; }
template <class Number>
bool is_negative(Number value) {
  return value < 0 && value != Number{-1};
}

std::string field_name(int field) {
  return fmt::format("field {} ({})", field, kSwfFieldNames[static_cast<std::size_t>(field - 1)]);
}

}  // namespace

void RecordChecker::error(std::string_view rule, std::string_view text) {
  violations_.note(rule, Severity::kError, text, line_);
}
void RecordChecker::warn(std::string_view rule, std::string_view text) {
  violations_.note(rule, Severity::kWarning, text, line_);
}

void RecordChecker::add(const SwfRecord& record, std::size_t line) {
  line_ = line;
  check_values(record);
  if (is_burst(record)) return add_burst(record);
  close_executions();
  ++jobs_;
  check_order(record);
  check_predecessor(record);  // before its own number counts as above
  if (record.job >= 0 && !numbers_.insert(record.job))
    error("duplicate-number", "field 1 (job number): expected each job once, found a number that stands above");
  check_sizes(record);
  check_times(record);
  executions_ = {.job = record.job, .status = record.status, .run = record.run, .line = line};
}

void RecordChecker::finish() { close_executions(); }

void RecordChecker::check_values(const SwfRecord& r) {
  const auto check = [this](int field, auto value) {
    if (is_negative(value))
      error("negative-value",
            fmt::format("{}: expected -1 for unknown, found another negative number", field_name(field)));
  };
  check(3, r.wait), check(4, r.run), check(5, r.allocated), check(6, r.average_cpu), check(7, r.used_memory);
  check(8, r.requested), check(9, r.requested_time), check(10, r.requested_memory), check(12, r.user);
  check(13, r.group), check(14, r.executable), check(15, r.queue), check(16, r.partition), check(17, r.preceding);
  check(18, r.think_time);
  if (r.status < -1 || r.status > 5) error("status-unknown", "field 11 (status): expected -1 to 5");
  const auto counts_from_one = [this](int field, std::int32_t value) {
    if (value == 0) warn("zero-number", fmt::format("{}: expected numbers from 1, found 0", field_name(field)));
  };
  counts_from_one(12, r.user), counts_from_one(13, r.group), counts_from_one(14, r.executable);
  counts_from_one(16, r.partition);
}

void RecordChecker::check_order(const SwfRecord& r) {
  if (r.job < 1) {
    error("number-missing", "field 1 (job number): expected numbers from 1");
  } else {
    if (r.job < last_number_) warn("number-order", "field 1 (job number): expected ascending numbers");
    if (r.job > last_number_ + 1) warn("number-gap", "field 1 (job number): expected numbers without gaps");
    last_number_ = std::max(last_number_, r.job);
  }
  if (r.submit < Duration::zero()) return error("submit-missing", "field 2 (submit time): expected 0 or later");
  if (r.submit < latest_submit_)
    error("out-of-order", "field 2 (submit time): expected ascending times, found one before that of a line above");
  latest_submit_ = std::max(latest_submit_, r.submit);
}

void RecordChecker::check_sizes(const SwfRecord& r) {
  if (machine_ && r.allocated > *machine_)
    error("oversize", fmt::format("field 5 (allocated processors): expected at most the machine's {}", *machine_));
  if (machine_ && r.requested > *machine_)
    warn("oversize-request",
         fmt::format("field 8 (requested processors): expected at most the machine's {}", *machine_));
  if (r.allocated <= 0 && r.requested <= 0)
    warn("size-missing", "fields 5 and 8 (processors): expected one of them above 0");
  if (r.allocated > 0 && r.requested > 0 && r.allocated != r.requested)
    warn("size-fields-differ", "fields 5 and 8: another number of processors allocated than requested");
}

void RecordChecker::check_times(const SwfRecord& r) {
  const bool never_ran = r.run < Duration::zero() || (r.run == Duration::zero() && r.allocated <= 0);
  if (r.status == 5 && never_ran)
    warn("cancelled-never-ran", "cancelled jobs (status 5) that never ran");
  else if (r.run < Duration::zero())
    warn("runtime-missing", "field 4 (run time): expected 0 or more");
  if (r.requested_time <= Duration::zero()) warn("request-missing", "field 9 (requested time): expected above 0");
  if (r.requested_time > Duration::zero() && r.run > r.requested_time)
    warn("over-request", "field 4 (run time): expected at most the requested time of field 9");
  if (r.run > Duration::zero() && r.average_cpu > r.run)
    warn("cpu-use-clamped", "field 6 (average CPU time): expected at most the run time of field 4");
}

void RecordChecker::check_predecessor(const SwfRecord& r) {
  if (r.preceding >= 0 && (r.preceding == r.job || !numbers_.contains(r.preceding)))
    error("preceding-missing", "field 17 (preceding job number): expected a job that stands above");
  if (r.preceding < 0 && r.think_time >= Duration::zero())
    warn("think-time", "field 18 (think time): expected -1, as field 17 names no job");
}

// A summary line (status 0 or 1, the whole run time) and below it its bursts: 2 goes on, 3 completed, 4 failed.
void RecordChecker::add_burst(const SwfRecord& r) {
  if (r.job != executions_.job || r.job < 0)
    return error("partial-execution", "a burst (status 2, 3, 4): expected below the summary line of its job");
  if (executions_.bursts > 0 && executions_.last_status != 2)
    error("partial-execution", "a burst (status 2, 3, 4): expected none after the last one (status 3 or 4)");
  if (executions_.bursts == 0 && r.submit < Duration::zero())
    error("partial-execution", "the first burst of a job: expected a submit time");
  executions_.sum += std::max(r.run, Duration::zero());
  executions_.last_status = r.status;
  ++executions_.bursts;
}

void RecordChecker::close_executions() {
  const Executions done = std::exchange(executions_, {});
  if (done.bursts == 0) return;
  const auto fail = [&](std::string_view text) {
    violations_.note("partial-execution", Severity::kError, text, done.line);
  };
  if (done.last_status == 2) fail("the last burst of a job: expected status 3 or 4, found 2");
  if ((done.last_status == 3 && done.status != 1) || (done.last_status == 4 && done.status != 0))
    fail("a summary line: expected the status of its last burst: 1 for 3, 0 for 4");
  if (done.run != done.sum) fail("a summary line: expected as run time the sum of its bursts");
}

}  // namespace replay
