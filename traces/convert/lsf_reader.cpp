#include "traces/convert/lsf_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "traces/convert/dependency.hpp"
#include "traces/file_kind.hpp"
#include "traces/swf_record.hpp"

namespace replay::lsf {
namespace {

using accounting::Fate;
using accounting::kMostProcessors;

constexpr std::string_view kJobFinish = "\"JOB_FINISH\" ";

struct Field {
  std::string_view text;  // without its quotes; "" in it is a quotation mark
  bool is_quoted = false;
};

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t at = 0; (at = line.find_first_not_of(' ', at)) < line.size();) {
    if (line[at] != '"') {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      fields.push_back({line.substr(at, end - at)});
      at = end;
      continue;
    }
    std::size_t end = line.find('"', at + 1);
    while (end != std::string_view::npos && line.substr(end + 1).starts_with('"')) end = line.find('"', end + 2);
    if (end == std::string_view::npos)
      throw InputError(
          fmt::format("field {}: expected a closing quotation mark, found the end of the line", fields.size() + 1));
    fields.push_back({line.substr(at + 1, end - at - 1), true});
    at = end + 1;
  }
  return fields;
}

// Takes the fields of a record one after the other, by the names that lsb.acct(5) gives them.
class Record {
 public:
  explicit Record(std::string_view line) : fields_(fields_of(line)) {}

  [[nodiscard]] bool is_at_end() const { return at_ >= fields_.size(); }

  std::string_view text(std::string_view name) { return take(name, "a text").text; }

  std::int64_t number(std::string_view name, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                      std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    return value<std::int64_t>(name, "a whole number", least, most);
  }
  std::int64_t time(std::string_view name) {
    return value<std::int64_t>(name, "seconds since 1970", 0, kLastUnixSecond);
  }
  double decimal(std::string_view name) {
    constexpr double kMost = 1e15;  // NaN and infinity are not within it
    return value<double>(name, "a number", -kMost, kMost);
  }
  void skip(std::size_t fields) { at_ += fields; }

  /// How many texts follow; then they are to be taken.
  std::size_t count(std::string_view name) {
    return static_cast<std::size_t>(number(name, 0, static_cast<std::int64_t>(fields_.size())));
  }

  /// The whole numbers in front of the next quoted text, behind `names` names of hosts with numbers of their own.
  std::vector<std::int64_t> numbers_behind_hosts(std::size_t names) {
    std::vector<std::int64_t> numbers;
    for (; !is_at_end(); ++at_) {
      const auto value = fields_[at_].is_quoted ? std::nullopt : parse_number<std::int64_t>(fields_[at_].text);
      if (value)
        numbers.push_back(*value);
      else if (names == 0)
        break;
      else
        --names, numbers.clear();
    }
    return numbers;
  }

 private:
  const Field& take(std::string_view name, std::string_view expected) {
    if (is_at_end())
      throw InputError(fmt::format("field {} ({}): expected {}, found the end of the line", at_ + 1, name, expected));
    return fields_[at_++];
  }

  template <class Number>
  Number value(std::string_view name, std::string_view expected, Number least, Number most) {
    const Field& field = take(name, expected);
    const auto number = field.is_quoted ? std::nullopt : parse_number<Number>(field.text, least, most);
    if (!number)
      throw InputError(
          fmt::format("field {} ({}): expected {}, found '{}'", at_, name, expected, visible_text(field.text, 40)));
    return *number;
  }

  std::vector<Field> fields_;
  std::size_t at_ = 0;
};

// With doubled quotation marks as one.
std::string name_of(std::string_view text) {
  std::string name(text);
  for (std::size_t at = 0; (at = name.find("\"\"", at)) != std::string::npos; ++at) name.erase(at, 1);
  return clean_line(name, accounting::kLongestName);
}

// "host1" is one processor of it, "16*host1" are 16.
std::int64_t processors_of(std::string_view host) {
  const std::size_t star = host.find('*');
  const auto count = star == std::string_view::npos
                         ? std::nullopt
                         : parse_number<std::int64_t>(host.substr(0, star), 1, kMostProcessors);
  return count.value_or(1);
}

std::optional<std::int64_t> unless_zero(std::int64_t value) { return value > 0 ? std::optional{value} : std::nullopt; }

// Killed by its owner or an administrator: TERM_FORCE_OWNER, TERM_FORCE_ADMIN, TERM_OWNER, TERM_ADMIN, TERM_BUCKET_KILL.
bool is_killed_on_request(std::int64_t exit_info) {
  constexpr std::int64_t kReasons[] = {8, 9, 14, 15, 23};
  return std::ranges::find(kReasons, exit_info) != std::end(kReasons);
}

Fate fate_of(std::int64_t status, std::int64_t exit_info, const Job& job) {
  constexpr std::int64_t kDone = 64;  // 32 is EXIT
  if (status == kDone) return Fate::kCompleted;
  return !job.start || is_killed_on_request(exit_info) ? Fate::kCancelled : Fate::kFailed;
}

// What versions since 9.1 and 10.1 say behind the fields that all have. lsb.acct(5) lists options3 in front of runLimit;
// records have them the other way round.
void read_newer_fields(Record& record, Job& job) {
  constexpr std::size_t kLimitUsageMemory = 3;  // runLimit, options3, avgMem
  record.skip(2 * record.count("submitExt"));
  const std::vector<std::int64_t> numbers = record.numbers_behind_hosts(record.count("numHostRusage"));
  if (numbers.size() < kLimitUsageMemory || record.is_at_end()) return;
  if (const std::int64_t limit = numbers[numbers.size() - kLimitUsageMemory]; limit > 0 && limit <= kMostSwfRunSeconds)
    job.time_limit = std::chrono::seconds{limit};
  record.skip(10);  // effectiveResReq to outdir
  if (record.is_at_end()) return;
  const std::int64_t run = record.number("runTime");
  if (run > 0 && job.elapsed && std::chrono::seconds{run} < *job.elapsed) job.elapsed = std::chrono::seconds{run};
  record.skip(1);  // subcwd
  if (record.is_at_end()) return;
  record.skip(2 * record.count("num_network"));
  record.skip(6);  // affinity to gflops
  if (record.is_at_end()) return;
  record.skip(record.count("numAllocSlots"));
  if (record.is_at_end()) return;
  const std::int64_t ineligible = record.number("ineligiblePendTime");
  if (ineligible > 0 && ineligible <= kMostSwfRunSeconds)
    job.eligible = std::max(job.eligible.value_or(0), job.submit + ineligible);
  if (record.is_at_end()) return;
  record.skip(3 * record.count("indexRangeCnt"));
  if (record.is_at_end()) return;
  // A job that ran before was queued again then; its record is that of its last run.
  const std::int64_t requeued = record.time("requeueTime");
  if (requeued > job.submit && job.start && requeued <= *job.start) job.submit = requeued;
}

}  // namespace

Job read_job(std::string_view line) {
  Record record(line);
  Job job;
  record.skip(2);  // type, version
  const std::int64_t end = record.time("Event Time");
  job.end = end;
  const std::int64_t id = record.number("jobId", 0);
  record.skip(2);  // userId, options
  job.requested = unless_zero(record.number("numProcessors", 0, kMostProcessors));
  job.submit = record.time("submitTime");
  if (const std::int64_t begin = record.time("beginTime"); begin > job.submit) job.eligible = begin;
  record.skip(1);  // termTime
  job.start = unless_zero(record.time("startTime"));
  job.user = name_of(record.text("userName"));
  job.queue = name_of(record.text("queue"));
  record.skip(1);  // resReq
  job.after = accounting::lsf_dependency(record.text("dependCond"));
  record.skip(7);  // preExecCmd to jobFile
  record.skip(record.count("numAskedHosts"));
  std::int64_t allocated = 0;
  for (std::size_t hosts = record.count("numExHosts"); hosts > 0; --hosts)
    allocated = std::min(allocated + processors_of(record.text("execHosts")), kMostProcessors);
  job.allocated = unless_zero(allocated);
  if (job.start && !job.allocated) job.has_allocation_column = false;
  const std::int64_t status = record.number("jStatus");
  record.skip(1);  // hostFactor
  job.name = name_of(record.text("jobName"));
  record.skip(1);  // command
  const double user = record.decimal("ru_utime"), system = record.decimal("ru_stime");
  record.skip(18);  // ru_maxrss to mailUser
  job.group = name_of(record.text("projectName"));
  record.skip(4);  // exitStatus to timeEvent
  const std::int64_t index = record.number("idx", 0);
  const std::int64_t memory = record.number("maxRMem");
  record.skip(7);  // maxRSwap to additionalInfo
  const std::int64_t exit_info = record.is_at_end() ? 0 : record.number("exitInfo");

  job.id = index > 0 ? fmt::format("{}[{}]", id, index) : fmt::format("{}", id);
  job.fate = fate_of(status, exit_info, job);
  if (job.start && end >= *job.start) job.elapsed = std::chrono::seconds{end - *job.start};
  if (user + system > 0 && user >= 0 && system >= 0)
    job.total_cpu = std::min<Duration>(Duration{static_cast<std::int64_t>(std::min((user + system) * 1e6, 9e18))},
                                       std::chrono::seconds{kMostSwfRunSeconds});
  if (memory > 0 && job.allocated) job.used_memory = static_cast<double>(memory) / static_cast<double>(*job.allocated);
  record.skip(14);  // warningAction to jobDescription
  if (!record.is_at_end()) read_newer_fields(record, job);
  return job;
}

bool Reader::next(Job& job) {
  while (const auto line = lines_.next()) {
    if (line->text.empty() || line->text.starts_with('#')) continue;
    try {
      if (line->too_long) throw InputError(fmt::format("expected at most {} characters, found more", kLongestLine));
      if (!is_lsf_record(line->text))
        throw InputError(
            fmt::format("expected a record such as \"JOB_FINISH\", found '{}'", visible_text(line->text, 40)));
      if (!line->text.starts_with(kJobFinish)) {
        ++tally_.other_records;
        continue;
      }
      job = read_job(line->text);
      if (job.submit == 0) {
        ++tally_.without_submit;
        continue;
      }
      ++tally_.jobs;
      return true;
    } catch (const InputError& error) {
      note_broken(name(), lines_.number(), error.what());
    }
  }
  if (tally_.jobs == 0) fail_without_jobs("records \"JOB_FINISH\" of lsb.acct", "none");
  return false;
}

}  // namespace replay::lsf
