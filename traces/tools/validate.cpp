#include "traces/tools/validate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "traces/logged_use.hpp"
#include "traces/tools/survivors.hpp"
#include "traces/tools/validate_parts.hpp"

namespace replay {
namespace {

constexpr std::size_t kExampleLines = 5;

// Processors in use over time, by the logged waits and run times.
class LoggedSchedule {
 public:
  void add(const SwfRecord& r) {
    if (is_burst(r) || r.submit < Duration::zero() || r.wait < Duration::zero()) return;
    if (r.run <= Duration::zero() || r.allocated <= 0) return;
    use_.add(r.submit + r.wait, r.run, r.allocated);
  }
  [[nodiscard]] std::optional<CoreCount> peak() {
    if (use_.is_empty()) return std::nullopt;
    return static_cast<CoreCount>(std::min<std::int64_t>(use_.most(), std::numeric_limits<CoreCount>::max()));
  }

 private:
  LoggedUse use_;
};

void check_schedule(std::optional<CoreCount> peak, std::optional<CoreCount> machine, Violations& violations) {
  if (!peak)
    violations.note("schedule", Severity::kWarning,
                    "no logged schedule: no record has a wait, a run time and processors");
  else if (machine && *peak > *machine)
    violations.note(
        "schedule", Severity::kWarning,
        fmt::format("the logged schedule has up to {} processors in use, the machine has {}", *peak, *machine));
}

}  // namespace

void Violations::note(std::string_view rule, Severity severity, std::string_view text, std::size_t line,
                      std::uint64_t count) {
  auto at = std::ranges::find_if(list_, [&](const Violation& v) { return v.rule == rule && v.text == text; });
  if (at == list_.end())
    at = list_.insert(list_.end(), Violation{std::string(rule), severity, 0, std::string(text), {}});
  at->count += count;
  if (line > 0 && at->lines.size() < kExampleLines) at->lines.push_back(line);
}

std::vector<Violation> Violations::sorted() && {
  std::ranges::stable_sort(list_, {}, &Violation::severity);
  return std::move(list_);
}

std::uint64_t Validation::count(Severity severity) const {
  std::uint64_t sum = 0;
  for (const Violation& violation : violations)
    if (violation.severity == severity) sum += violation.count;
  return sum;
}

const Violation* Validation::find(std::string_view rule) const {
  const auto found = std::ranges::find(violations, rule, &Violation::rule);
  return found == violations.end() ? nullptr : &*found;
}

Validation validate_trace(TraceReader& reader, const ValidateOptions& options) {
  Violations violations;
  check_header(reader.header(), violations);
  RecordChecker checker(reader.header(), violations);
  LoggedSchedule schedule;
  for (TraceEntry entry; reader.next(entry);) {
    checker.add(entry.record, reader.swf().line());
    if (options.schedule) schedule.add(entry.record);
  }
  checker.finish();

  const SwfReader& swf = reader.swf();
  Validation result;
  result.file = swf.name();
  result.records = swf.records();
  result.broken_messages = swf.broken_messages();
  if (swf.broken_lines() > 0) {
    for (const std::size_t line : swf.broken_line_numbers())
      violations.note("broken-line", Severity::kError, "lines that do not begin with 18 numbers", line);
    violations.note("broken-line", Severity::kError, "lines that do not begin with 18 numbers", 0,
                    swf.broken_lines() - swf.broken_line_numbers().size());
  }
  if (swf.long_records() > 0) {
    const std::string text = fmt::format("records {}", long_record_text());
    for (const std::size_t line : swf.long_record_lines())
      violations.note("extra-fields", Severity::kError, text, line);
    violations.note("extra-fields", Severity::kError, text, 0, swf.long_records() - swf.long_record_lines().size());
  }
  check_totals(reader.header(), swf.records() + swf.broken_lines(), checker.jobs(), violations);
  if (const std::size_t unknown = reader.unknown_jobs().count; unknown > 0)
    violations.note("job-table", Severity::kError, fmt::format("rows {}", unknown_jobs_text(reader)), 0, unknown);
  if (options.schedule) {
    result.logged_peak = schedule.peak();
    check_schedule(result.logged_peak, reader.header().machine_size(), violations);
  }
  result.violations = std::move(violations).sorted();
  return result;
}

}  // namespace replay
