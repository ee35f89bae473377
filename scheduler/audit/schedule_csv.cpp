// Reads tables of jobs: our jobs.csv, and Batsim's table, which has the first columns of ours.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "scheduler/audit/schedule_file.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "traces/swf_record.hpp"

namespace replay::audit {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::string_view kInterruptedReason = "the run was interrupted";  // a job's reason in jobs.csv

enum class ScheduleColumn : std::uint8_t {
  kJob,
  kSubmit,
  kSize,
  kRequest,
  kStart,
  kExecution,
  kFinish,
  kState,
  kReason,
  kRuntime,
  kSuspended,
  kShrinks,
  kExpands,
  kSince
};

struct ColumnName {
  std::string_view name;
  std::string_view old_name;  // Batsim's, before version 3
  bool is_needed;
};
constexpr std::array kScheduleColumns = {
    ColumnName{"job_id", "jobID", true},
    ColumnName{"submission_time", "", true},
    ColumnName{"requested_number_of_resources", "requested_number_of_processors", true},
    ColumnName{"requested_time", "", false},
    ColumnName{"starting_time", "", true},
    ColumnName{"execution_time", "", false},
    ColumnName{"finish_time", "", false},
    ColumnName{"final_state", "", false},
    ColumnName{"reason", "", false},
    ColumnName{"expanded_runtime_s", "", false},
    ColumnName{"suspended_s", "", false},
    ColumnName{"shrinks", "", false},
    ColumnName{"expands", "", false},
    ColumnName{"since", "", false}};

class Table {
 public:
  explicit Table(std::unique_ptr<ByteSource> source) : lines_(std::move(source)) {
    if (!next()) throw InputError(fmt::format("{}: expected a header row, found nothing", lines_.name()));
    for (std::size_t i = 0; i < kScheduleColumns.size(); ++i) places_[i] = find(kScheduleColumns[i]);
    width_ = row_.cells().size();
    if (place(ScheduleColumn::kFinish) == kNowhere && place(ScheduleColumn::kExecution) == kNowhere)
      fail("header row: expected a column 'finish_time' or 'execution_time', found neither");
  }

  /// The next row; false at the end. Blank lines are passed over.
  [[nodiscard]] bool next_row() {
    if (!next()) return false;
    if (const std::size_t cells = row_.cells().size(); cells != width_)
      fail(fmt::format("expected {} cells as in the header row, found {}", width_, cells));
    return true;
  }

  [[nodiscard]] const std::string& name() const { return lines_.name(); }
  /// Empty where there is no such column.
  [[nodiscard]] std::string_view text(ScheduleColumn column) const {
    return place(column) == kNowhere ? std::string_view{} : row_.cells()[place(column)];
  }
  /// Nothing if the cell is empty or below 0: both mean that there is no such time.
  [[nodiscard]] std::optional<Duration> time(ScheduleColumn column) const {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    const std::optional<Duration> time = read_time(cell);
    if (!time) expected(column, fmt::format("seconds below {}", kMostSwfSeconds));
    return *time < Duration::zero() ? std::nullopt : time;
  }
  [[nodiscard]] std::optional<std::int64_t> count(ScheduleColumn column) const {
    const std::string_view cell = text(column);
    if (cell.empty()) return std::nullopt;
    const std::optional<Duration> number = read_time(cell);  // some writers put decimals behind counts
    if (!number || *number % std::chrono::seconds{1} != Duration::zero()) expected(column, "a whole number");
    return *number / std::chrono::seconds{1};
  }
  [[noreturn]] void expected(ScheduleColumn column, std::string_view what) const {
    fail(fmt::format("column {}: expected {}, found '{}'", kScheduleColumns[static_cast<std::size_t>(column)].name,
                     what, visible_text(text(column), 40)));
  }

 private:
  [[nodiscard]] std::size_t place(ScheduleColumn column) const { return places_[static_cast<std::size_t>(column)]; }

  [[nodiscard]] std::size_t find(const ColumnName& column) const {
    const std::span cells = row_.cells();
    const auto found = std::ranges::find_if(cells, [&](std::string_view cell) {
      return cell == column.name || (!column.old_name.empty() && cell == column.old_name);
    });
    if (found != cells.end()) return static_cast<std::size_t>(found - cells.begin());
    if (column.is_needed)
      fail(fmt::format("header row: expected a column '{}', found '{}'", column.name,
                       visible_text(fmt::format("{}", fmt::join(cells, ",")), 120)));
    return kNowhere;
  }

  // Decimal, or with an exponent as C++ streams print large numbers.
  [[nodiscard]] static std::optional<Duration> read_time(std::string_view cell) {
    constexpr Duration kMost = std::chrono::seconds{kMostSwfSeconds};
    std::optional<Duration> time = parse_seconds(cell);
    if (!time) {
      const auto number = parse_number<double>(cell);
      if (!number || !(std::abs(*number) < 1e12)) return std::nullopt;
      time = from_seconds(*number);
    }
    return *time<kMost&& * time> - kMost ? time : std::nullopt;
  }

  [[nodiscard]] bool next() {
    auto line = lines_.next();
    while (line && line->text.empty()) line = lines_.next();
    if (!line) return false;
    std::size_t characters = 0;
    const auto check_length = [&] {
      characters += line->text.size() + 1;
      if (line->too_long || characters > kLongestLine)
        fail(fmt::format("expected at most {} characters in a row, found more", kLongestLine));
    };
    check_length();
    for (bool is_whole = row_.begin(line->text); !is_whole; is_whole = row_.go_on(line->text)) {
      line = lines_.next();
      if (!line) fail("expected a closing quotation mark, found the end of the file");
      check_length();
    }
    return true;
  }

  [[noreturn]] void fail(std::string_view problem) const { throw InputError(lines_.name(), lines_.number(), problem); }

  LineReader lines_;
  std::array<std::size_t, kScheduleColumns.size()> places_{};
  std::size_t width_ = 0;
  CsvRow row_;
};

// Job numbers may be names ("w0!17"): then the order of the file decides.
std::int64_t number_in(std::string_view name) { return parse_number<std::int64_t>(name).value_or(0); }

bool waited_to_the_end(const Table& table) {
  return table.text(ScheduleColumn::kState) == "SUBMITTED" || table.text(ScheduleColumn::kReason) == kInterruptedReason;
}

bool was_changed(const Table& table) {
  return table.count(ScheduleColumn::kShrinks).value_or(0) > 0 ||
         table.count(ScheduleColumn::kExpands).value_or(0) > 0 ||
         table.time(ScheduleColumn::kSuspended).value_or(Duration::zero()) > Duration::zero();
}

// In our jobs.csv this state is also that of jobs that, by the trace, ended at their estimate by themselves.
bool was_killed(const Table& table, Duration estimate) {
  if (table.text(ScheduleColumn::kState) != "COMPLETED_WALLTIME_REACHED") return false;
  const std::optional<Duration> runtime = table.time(ScheduleColumn::kRuntime);
  return !runtime || *runtime > estimate;
}

void set_times(audit::Job& job, const Table& table, Duration start) {
  job.started = Instant{start};
  if (const std::optional<Duration> since = table.time(ScheduleColumn::kSince)) job.since = Instant{*since};
  if (job.since != kNever && job.since > job.started)
    table.expected(ScheduleColumn::kSince, fmt::format("at most the start at {}", replay::to_text(start)));
  std::optional<Duration> end = table.time(ScheduleColumn::kFinish);
  const std::optional<Duration> length = table.time(ScheduleColumn::kExecution);
  if (!end && length) end = start + *length;
  if (end && *end < start)
    table.expected(ScheduleColumn::kFinish, fmt::format("no end before the start at {}", replay::to_text(start)));
  if (end) job.ended = Instant{*end};
  Duration estimate = table.time(ScheduleColumn::kRequest).value_or(Duration::zero());
  if (estimate == Duration::zero() && end) estimate = *end - start;
  job.estimate = estimate > Duration::zero() ? estimate : std::chrono::seconds{1};
  job.killed = was_killed(table, job.estimate);
}

audit::Job job_of(const Table& table) {
  audit::Job job;
  job.name = clean_line(table.text(ScheduleColumn::kJob));
  if (job.name.empty()) table.expected(ScheduleColumn::kJob, "a job");
  job.number = number_in(job.name);
  const std::optional<Duration> submitted = table.time(ScheduleColumn::kSubmit);
  if (!submitted) table.expected(ScheduleColumn::kSubmit, "seconds >= 0");
  job.submitted = Instant{*submitted};
  const std::int64_t size = table.count(ScheduleColumn::kSize).value_or(0);
  if (size < 1 || size > std::numeric_limits<CoreCount>::max()) table.expected(ScheduleColumn::kSize, "a count >= 1");
  job.processors = static_cast<CoreCount>(size);
  return job;
}

}  // namespace

ScheduleFile read_schedule_csv(std::unique_ptr<ByteSource> source) {
  Table table{std::move(source)};
  ScheduleFile file;
  file.name = table.name();
  file.format = "CSV";
  for (; table.next_row(); ++file.records) {
    audit::Job job = job_of(table);
    if (const std::optional<Duration> start = table.time(ScheduleColumn::kStart)) {
      set_times(job, table, *start);
    } else if (table.text(ScheduleColumn::kState) == "REJECTED") {
      ++file.left_out["rejected"];
      continue;
    } else if (waited_to_the_end(table)) {
      job.estimate = std::max<Duration>(table.time(ScheduleColumn::kRequest).value_or(Duration::zero()), Duration{1});
    } else {
      ++file.left_out["never started, and when they left the queue is not known"];
      continue;
    }
    if (was_changed(table)) ++file.changed;
    file.schedule.jobs.push_back(std::move(job));
  }
  return file;
}

}  // namespace replay::audit
