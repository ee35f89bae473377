#include "scheduler/audit/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/json/read_json.hpp"
#include "scheduler/model/machine.hpp"
#include "traces/file_kind.hpp"
#include "traces/trace_stream.hpp"

namespace replay::audit {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kPeeked = std::size_t{64} * 1024;

// A source that shows its first bytes before they are read.
class PeekableSource final : public ByteSource {
 public:
  explicit PeekableSource(std::unique_ptr<ByteSource> inner) : ByteSource(inner->name()), inner_(std::move(inner)) {
    beginning_.resize(kPeeked);
    std::size_t filled = 0;
    while (filled < kPeeked) {
      const std::size_t count = inner_->read(beginning_.data() + filled, kPeeked - filled);
      if (count == 0) break;
      filled += count;
    }
    beginning_.resize(filled);
  }

  [[nodiscard]] std::string_view beginning() const { return beginning_; }

  std::size_t read(char* to, std::size_t most) override {
    if (at_ == beginning_.size()) return inner_->read(to, most);
    const std::size_t count = std::min(most, beginning_.size() - at_);
    std::copy_n(beginning_.data() + at_, count, to);
    at_ += count;
    return count;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::string beginning_;
  std::size_t at_ = 0;
};

std::string_view first_line_of(std::string_view beginning) {
  const std::size_t first = std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size());
  return beginning.substr(first, beginning.find_first_of("\r\n", first) - first);
}

// A header row has commas and begins with a name; a line of SWF begins with ';' or a number.
bool is_table(std::string_view line) {
  if (line.empty()) return false;
  const char c = line.front();
  const bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"' || c == '_';
  return is_name && line.find(',') != std::string_view::npos;
}

// ---- SWF ----

std::optional<std::string> reason_to_leave_out(const SwfRecord& record) {
  if (record.status >= 2 && record.status <= 4) return "parts of an execution (status 2, 3, 4)";
  if (record.submit < Duration::zero()) return "without a submit time";
  if (record.allocated <= 0 && record.requested <= 0) return "without a size";
  return std::nullopt;
}

// A cancelled job that never ran. Blue Horizon has cancelled jobs that ran on an unknown number of processors.
bool never_ran(const SwfRecord& record) {
  return record.run < Duration::zero() ||
         (record.status == 5 && record.run == Duration::zero() && record.allocated <= 0);
}

// Nothing if it is left out; `why` says for what reason.
std::optional<audit::Job> job_of(const SwfRecord& record, std::string& why) {
  if (const auto reason = reason_to_leave_out(record)) {
    why = *reason;
    return std::nullopt;
  }
  audit::Job job;
  job.name = fmt::to_string(record.job);
  job.number = record.job;
  job.submitted = Instant{record.submit};
  job.processors = record.allocated > 0 ? record.allocated : record.requested;
  job.estimate = record.requested_time > Duration::zero() ? record.requested_time : record.run;
  if (job.estimate <= Duration::zero()) job.estimate = std::chrono::seconds{1};
  const bool is_cancelled = record.status == 5 && never_ran(record);
  if (record.wait == kUnknownTime) {  // others below 0 are starts before the submission
    why = is_cancelled || never_ran(record) ? "never started, and when they left the queue is not known"
                                            : "without a wait time";
    return std::nullopt;
  }
  if (never_ran(record) && !is_cancelled) {
    why = "without a run time";
    return std::nullopt;
  }
  const Instant out_of_queue = job.submitted + record.wait;
  if (is_cancelled) {
    job.left = out_of_queue;
  } else {
    job.started = out_of_queue;
    job.ended = out_of_queue + record.run;
  }
  return job;
}

// `side_file`: what it says about when jobs could start; nothing if there is none.
ScheduleFile read_swf(std::unique_ptr<ByteSource> source, std::optional<std::string> side_file, QueueFrom queue_from) {
  TraceReader reader{std::move(source), {.job_table = std::move(side_file)}};
  ScheduleFile file;
  file.name = reader.swf().name();
  file.format = "SWF";
  std::string why;
  for (TraceEntry entry; reader.next(entry);) {
    ++file.records;
    if (queue_from == QueueFrom::kEligible) wait_from_eligible(entry);
    if (auto job = job_of(entry.record, why))
      file.schedule.jobs.push_back(std::move(*job));
    else
      ++file.left_out[why];
  }
  file.odd_lines = odd_line_report(reader);
  file.machine_size = reader.header().machine_size();
  return file;
}

// ---- a run's folder ----

// Nothing if the file is not there, is broken, or says nothing of a machine.
std::optional<CoreCount> machine_size_in(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  try {
    const auto json = read_json<nlohmann::json>(file);
    if (!json.is_object() || !json.contains("machine") || !json["machine"].is_string()) return std::nullopt;
    const CoreCount cores = Machine::parse(json["machine"].get<std::string>()).size();
    if (!json.contains("stated_cores")) return cores;
    const nlohmann::json& stated = json["stated_cores"];
    if (stated.is_number_integer() && stated >= 1 && stated <= number(cores)) return stated.get<std::int32_t>();
  } catch (const InputError&) {  // the table of jobs is enough for most rules
  }
  return std::nullopt;
}

std::string runs_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& entry : entries_of(folder))
    if (fs::exists(entry / "jobs.csv", error)) names.push_back(entry.string());
  return fmt::format("{}", fmt::join(names, ", "));
}

fs::path table_of(const fs::path& folder) {
  expect_readable(folder);
  if (fs::exists(folder / "jobs.csv")) return folder / "jobs.csv";
  const std::string runs = runs_in(folder);
  throw InputError(fmt::format("{}: expected a run's folder with a jobs.csv, found none{}", folder.string(),
                               runs.empty() ? "" : "; its runs are " + runs));
}

}  // namespace

ScheduleFile read_schedule(const std::string& path, QueueFrom queue_from) {
  std::error_code error;
  const fs::path given{path};
  const fs::path chosen = path != "-" && fs::is_directory(given, error) ? table_of(given) : given;
  auto source = std::make_unique<PeekableSource>(open_source(chosen.string()));
  const std::string_view first_line = first_line_of(source->beginning());
  if (const auto other = kind_of_text(first_line, source->name()); other && other->kind != FileKind::kJobs)
    throw InputError(
        fmt::format("{}: expected a schedule, a table of jobs or SWF, found {}", source->name(), other->text));
  const bool table = is_table(first_line);
  ScheduleFile file = table ? read_schedule_csv(std::move(source))
                            : read_swf(std::move(source), find_beside(chosen.string(), kJobTableEnding), queue_from);
  if (table && chosen.filename() == "jobs.csv")
    for (const char* name : {"metrics.json", "run.json"})
      if (!file.machine_size) file.machine_size = machine_size_in(chosen.parent_path() / name);
  if (std::ranges::none_of(file.schedule.jobs, [](const audit::Job& job) { return job.started != kNever; }))
    throw InputError(fmt::format("{}: expected a schedule, found no job with a start{}", file.name,
                                 table ? " (column starting_time)" : " (field 3, wait time, and field 4, run time)"));
  return file;
}

}  // namespace replay::audit
