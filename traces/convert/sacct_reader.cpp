#include "traces/convert/sacct_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/swf_record.hpp"

namespace replay::sacct {

enum class Reader::Column : std::uint8_t {
  kJobId,
  kJobIdRaw,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsedRaw,
  kElapsed,
  kAllocCpus,
  kNCpus,
  kAllocTres,
  kReqCpus,
  kReqTres,
  kTotalCpu,
  kTimeLimitRaw,
  kTimeLimit,
  kReqMem,
  kMaxRss,
  kState,
  kUser,
  kUid,
  kGroup,
  kGid,
  kAccount,
  kJobName,
  kPartition,
  kQos,
  kNNodes,
  kCluster
};

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMessages = 5;
constexpr std::size_t kLongestName = 1024;  // as in Slurm; each job keeps its own
constexpr std::int64_t kMostProcessors = 2'147'483'647;
constexpr double kMostKilobytes = 9e15;  // both as in SWF

// In the order of Column. sacct prints them as they were asked for, so case does not count.
constexpr std::array<std::string_view, 29> kNames = {
    "JobID",     "JobIDRaw",  "Submit",    "Eligible", "Start",   "End",      "ElapsedRaw",   "Elapsed",
    "AllocCPUS", "NCPUS",     "AllocTRES", "ReqCPUS",  "ReqTRES", "TotalCPU", "TimelimitRaw", "Timelimit",
    "ReqMem",    "MaxRSS",    "State",     "User",     "UID",     "Group",    "GID",          "Account",
    "JobName",   "Partition", "QOS",       "NNodes",   "Cluster"};

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return lower(x) == lower(y); });
}

template <class Value>
void keep_larger(std::optional<Value>& to, const std::optional<Value>& other) {
  if (other && (!to || *to < *other)) to = other;
}

void add_count(std::optional<std::int64_t>& to, const std::optional<std::int64_t>& other) {
  if (other) to = to.value_or(0) + *other;
}

void add_time(std::optional<Duration>& to, const std::optional<Duration>& other) {
  if (other) to = std::min<Duration>(to.value_or(Duration::zero()) + *other, std::chrono::seconds{kMostSwfRunSeconds});
}

// The components of a heterogeneous job start and end together: one job of all their processors. It has completed if
// all of them have.
void add_component(Job& job, const Job& part) {
  add_count(job.allocated, part.allocated);
  add_count(job.requested, part.requested);
  add_time(job.total_cpu, part.total_cpu);
  keep_larger(job.elapsed, part.elapsed);
  keep_larger(job.time_limit, part.time_limit);
  keep_larger(job.end, part.end);
  keep_larger(job.requested_memory, part.requested_memory);
  keep_larger(job.used_memory, part.used_memory);
  keep_larger(job.fate, part.fate);
}

}  // namespace

Reader::Reader(std::unique_ptr<ByteSource> source, const ReaderOptions& options)
    : lines_(std::move(source)), clock_(options.time_zone), strict_(options.strict) {
  read_header_row();
}

void Reader::read_header_row() {
  auto line = lines_.next();
  while (line && line->text.empty()) line = lines_.next();
  if (!line) throw InputError(fmt::format("{}: expected what sacct --parsable2 prints, found nothing", lines_.name()));
  const std::vector<std::string_view> names = split(line->text, '|');
  width_ = names.size();
  places_.assign(kNames.size(), kNone);
  for (std::size_t column = 0; column < kNames.size(); ++column)
    for (std::size_t i = names.size(); i-- > 0;)
      if (same_word(names[i], kNames[column])) places_[column] = i;
  const auto need = [&](bool is_there, std::string_view what) {
    if (!is_there)
      throw InputError(
          lines_.name(), lines_.number(),
          fmt::format("header row: expected a column {}, found '{}': sacct --parsable2 --format=... without "
                      "--noheader prints one",
                      what, visible_text(line->text, 80)));
  };
  need(has(Column::kJobId) || has(Column::kJobIdRaw), "JobID");
  need(has(Column::kSubmit) || has(Column::kEligible), "Submit");
  need(has(Column::kAllocCpus) || has(Column::kNCpus) || has(Column::kAllocTres), "AllocCPUS, NCPUS or AllocTRES");
  need(has(Column::kElapsedRaw) || has(Column::kElapsed) || (has(Column::kStart) && has(Column::kEnd)),
       "ElapsedRaw, Elapsed, or Start and End");
}

bool Reader::has(Column column) const { return places_[static_cast<std::size_t>(column)] != kNone; }

std::string_view Reader::cell(Column column) const {
  return has(column) ? cells_[places_[static_cast<std::size_t>(column)]] : std::string_view{};
}

// --parsable has an empty cell at the end of each line, the header row too. A '|' in the name of a job makes too many
// cells, which are joined to that name again.
bool Reader::cut_row(std::string_view line) {
  cells_ = split(line, '|');
  const std::size_t place = places_[static_cast<std::size_t>(Column::kJobName)];
  if (cells_.size() <= width_ || place == kNone) return cells_.size() == width_;
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(place);
  const auto last = first + static_cast<std::ptrdiff_t>(cells_.size() - width_);
  joined_name_ = fmt::format("{}", fmt::join(first, last + 1, "|"));
  *first = joined_name_;
  cells_.erase(first + 1, last + 1);
  return true;
}

bool Reader::next(Job& job) {
  while (auto row = next_job()) {
    if (!row->has_submit) {
      ++tally_.without_submit;
      continue;
    }
    ++tally_.jobs;
    if (row->job.fate == Fate::kUnfinished) ++tally_.unfinished;
    job = std::move(row->job);
    return true;
  }
  if (tally_.jobs == 0)
    throw InputError(fmt::format("{}: no jobs: expected rows of sacct --parsable2, found {}", lines_.name(),
                                 tally_.broken > 0           ? tally_.broken_messages.front()
                                 : tally_.without_submit > 0 ? "none with a time of submission"
                                                             : "only the header row"));
  return false;
}

std::optional<Reader::Row> Reader::next_job() {
  auto job = waiting_component_ ? std::exchange(waiting_component_, std::nullopt) : next_component();
  if (!job || job->leader.empty()) return job;
  while ((waiting_component_ = next_component()) && is_component(*waiting_component_, *job)) {
    add_component(job->job, waiting_component_->job);
    job->id = waiting_component_->id;
    ++tally_.components;
  }
  return job;
}

bool Reader::is_component(const Row& part, const Row& of) {
  return part.leader == of.leader && part.id != of.id && part.has_submit && part.job.submit == of.job.submit;
}

std::optional<Reader::Row> Reader::next_component() {
  auto row = waiting_row_ ? std::exchange(waiting_row_, std::nullopt) : next_row();
  for (; row && row->is_step; row = next_row()) ++tally_.lone_steps;
  if (!row) return row;
  std::optional<Duration> cpu_of_steps;
  while ((waiting_row_ = next_row()) && waiting_row_->is_step && waiting_row_->id == row->id) {
    ++tally_.steps;
    add_time(cpu_of_steps, waiting_row_->job.total_cpu);
    keep_larger(row->job.used_memory, waiting_row_->job.used_memory);
  }
  if (!row->job.total_cpu) row->job.total_cpu = cpu_of_steps;
  return row;
}

std::optional<Reader::Row> Reader::next_row() {
  while (const auto line = lines_.next()) {
    if (line->text.empty()) continue;
    try {
      if (line->too_long) throw InputError(fmt::format("expected at most {} characters, found more", kLongestLine));
      if (!cut_row(line->text))
        throw InputError(fmt::format("expected {} cells as in the header row, found {}", width_, cells_.size()));
      return read_row();
    } catch (const InputError& error) {
      note_broken(error.what());
    }
  }
  return std::nullopt;
}

Reader::Row Reader::read_row() {
  const Column id_column = has(Column::kJobId) ? Column::kJobId : Column::kJobIdRaw;
  const auto id = read_id(cell(id_column));
  if (!id)
    throw InputError(fmt::format("field {}: expected a job id such as 1234, 1234_5 or 1234.batch, found '{}'",
                                 kNames[static_cast<std::size_t>(id_column)], visible_text(cell(id_column), 40)));
  Row row;
  row.id = id->job;
  row.leader = id->leader;
  row.is_step = id->is_step;
  row.job.total_cpu = checked(Column::kTotalCpu, "[days-]hours:minutes:seconds", read_elapsed(cell(Column::kTotalCpu)));
  if (row.job.total_cpu == Duration::zero()) row.job.total_cpu.reset();
  constexpr double kByte = 1.0 / 1024;
  if (const auto used = checked(Column::kMaxRss, "a size such as 812K", read_memory(cell(Column::kMaxRss), kByte)))
    row.job.used_memory = used->kilobytes;
  if (row.is_step) return row;
  read_times(row);
  read_sizes(row);
  read_memory_cells(row);
  read_names(row);
  return row;
}

template <class Value>
std::optional<Value> Reader::checked(Column column, std::string_view expected, Cell<Value> read) const {
  if (!read.is_right)
    throw InputError(fmt::format("field {}: expected {}, found '{}'", kNames[static_cast<std::size_t>(column)],
                                 expected, visible_text(cell(column), 40)));
  return read.value;
}

void Reader::read_times(Row& row) {
  const auto time = [&](Column column) {
    return checked(column, "a time such as 2024-03-01T12:00:00", read_time(cell(column), clock_));
  };
  auto submit = time(Column::kSubmit);
  if (!submit) submit = time(Column::kEligible);
  row.has_submit = submit.has_value();
  row.job.submit = submit.value_or(0);
  row.job.start = time(Column::kStart);
  row.job.end = time(Column::kEnd);
  if (has(Column::kState)) {
    row.job.fate = read_state(cell(Column::kState));
    if (!row.job.fate)
      throw InputError(fmt::format("field State: expected a state of a job such as COMPLETED, found '{}'",
                                   visible_text(cell(Column::kState), 40)));
  } else if (!row.job.end && has(Column::kEnd)) {
    row.job.fate = Fate::kUnfinished;
  }
  std::optional<Duration> elapsed;
  if (const auto raw = checked(Column::kElapsedRaw, "seconds", read_count(cell(Column::kElapsedRaw)));
      raw && *raw <= kMostSwfRunSeconds)
    elapsed = std::chrono::seconds{*raw};
  if (!elapsed)
    elapsed = checked(Column::kElapsed, "[days-]hours:minutes:seconds", read_elapsed(cell(Column::kElapsed)));
  if (!elapsed && row.job.start && row.job.end && *row.job.end >= *row.job.start)
    elapsed = std::chrono::seconds{*row.job.end - *row.job.start};
  if (row.job.fate != Fate::kUnfinished) row.job.elapsed = elapsed;
  if (const auto minutes = checked(Column::kTimeLimitRaw, "minutes", read_count(cell(Column::kTimeLimitRaw)));
      minutes && *minutes <= kMostSwfRunSeconds / 60)
    row.job.time_limit = std::chrono::minutes{*minutes};
  if (!row.job.time_limit)
    row.job.time_limit =
        checked(Column::kTimeLimit, "[days-]hours:minutes:seconds", read_elapsed(cell(Column::kTimeLimit)));
}

std::optional<std::int64_t> Reader::processors(Column first, Column second, Column resources) const {
  const auto within_range = [](Cell<std::int64_t> read) {
    if (read.value && *read.value > kMostProcessors) read.is_right = false;
    return read;
  };
  for (const Column column : {first, second})
    if (const auto count = checked(column, "a count", within_range(read_count(cell(column)))); count && *count > 0)
      return count;
  const auto count =
      checked(resources, "a list such as cpu=8,mem=32G", within_range(read_resource(cell(resources), "cpu")));
  return count && *count > 0 ? count : std::nullopt;
}

void Reader::read_sizes(Row& row) {
  row.job.allocated = processors(Column::kAllocCpus, Column::kNCpus, Column::kAllocTres);
  row.job.requested = processors(Column::kReqCpus, Column::kReqCpus, Column::kReqTres);
}

void Reader::read_memory_cells(Row& row) {
  constexpr double kMegabyte = 1024;
  const auto memory =
      checked(Column::kReqMem, "a size such as 4000Mc or 16G", read_memory(cell(Column::kReqMem), kMegabyte));
  const auto nodes = checked(Column::kNNodes, "a count", read_count(cell(Column::kNNodes)));
  if (!memory || memory->kilobytes <= 0) return;  // 0: all that the node has
  const auto size = row.job.allocated ? row.job.allocated : row.job.requested;
  if (memory->per == MemoryPer::kProcessor)
    row.job.requested_memory = memory->kilobytes;
  else if (size && memory->per == MemoryPer::kJob)
    row.job.requested_memory = memory->kilobytes / static_cast<double>(*size);
  else if (size && nodes)
    row.job.requested_memory =
        std::min(memory->kilobytes * static_cast<double>(*nodes) / static_cast<double>(*size), kMostKilobytes);
}

void Reader::read_names(Row& row) {
  const auto first_of = [&](std::initializer_list<Column> columns) {
    for (const Column column : columns)
      if (!cell(column).empty()) return clean_line(cell(column), kLongestName);
    return std::string{};
  };
  row.job.user = first_of({Column::kUser, Column::kUid});
  row.job.group = first_of({Column::kGroup, Column::kGid, Column::kAccount});
  row.job.name = first_of({Column::kJobName});
  row.job.qos = first_of({Column::kQos});
  row.job.partition = first_of({Column::kPartition});
  row.job.cluster = first_of({Column::kCluster});
}

void Reader::note_broken(const std::string& message) {
  const InputError error(lines_.name(), lines_.number(), message);
  if (strict_) throw error;
  ++tally_.broken;
  if (tally_.broken_messages.size() < kMessages) tally_.broken_messages.emplace_back(error.what());
}

}  // namespace replay::sacct
