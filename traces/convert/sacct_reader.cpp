#include "traces/convert/sacct_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "traces/convert/dependency.hpp"
#include "traces/swf_record.hpp"

namespace replay::sacct {

namespace {

using accounting::kLongestName;
using accounting::kMostKilobytes;
using accounting::kMostProcessors;

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
    : accounting::Reader(options), rows_(std::move(source), clock_), cluster_(options.cluster) {
  if (!cluster_.empty() && !rows_.has(Column::kCluster))
    throw InputError(fmt::format("{}: --cluster {}: expected a column Cluster, found none: add it to sacct's --format",
                                 name(), cluster_));
}

bool Reader::next(Job& job) {
  while (auto row = next_job()) {
    if (!row->has_submit) {
      ++tally_.without_submit;
      continue;
    }
    if (!is_of_cluster(row->job)) {
      ++tally_.of_other_clusters;
      continue;
    }
    ++tally_.jobs;
    job = std::move(row->job);
    job.id = row->leader.empty() ? std::move(row->id) : std::move(row->leader);
    return true;
  }
  tally_.continued = rows_.continued();
  if (tally_.jobs == 0) fail_without_jobs();
  return false;
}

bool Reader::is_of_cluster(const Job& job) {
  constexpr std::size_t kMostClusters = 16;  // for the message
  if (cluster_.empty()) return true;
  if (clusters_.size() < kMostClusters) clusters_.insert(job.cluster);
  return job.cluster == cluster_;
}

void Reader::fail_without_jobs() const {
  if (!clusters_.empty())
    throw InputError(
        fmt::format("{}: no jobs of cluster '{}': found {}", name(), cluster_, fmt::join(clusters_, ", ")));
  accounting::Reader::fail_without_jobs("rows of sacct --parsable2", "only the header row");
}

std::optional<Reader::Row> Reader::next_job() {
  auto job = waiting_component_ ? std::exchange(waiting_component_, std::nullopt) : next_component();
  if (!job || job->leader.empty()) return job;
  while ((waiting_component_ = next_component()) && is_component(*waiting_component_, *job)) {
    add_component(job->job, waiting_component_->job);
    job->components.push_back(waiting_component_->id);
    ++tally_.components;
  }
  return job;
}

bool Reader::is_component(const Row& part, const Row& of) {
  return part.leader == of.leader && part.has_submit && part.job.submit == of.job.submit && part.id != of.id &&
         part.job.cluster == of.job.cluster && std::ranges::find(of.components, part.id) == of.components.end();
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
  while (true) {
    try {
      if (!rows_.next()) return std::nullopt;
      return read_row();
    } catch (const InputError& error) {
      note_broken(name(), rows_.line(), error.what());
    }
  }
}

Reader::Row Reader::read_row() {
  const Column id_column = rows_.has(Column::kJobId) ? Column::kJobId : Column::kJobIdRaw;
  const auto id = read_id(rows_.cell(id_column));
  if (!id)
    throw InputError(fmt::format("field {}: expected a job id such as 1234, 1234_5 or 1234.batch, found '{}'",
                                 name_of(id_column), visible_text(rows_.cell(id_column), 40)));
  Row row;
  row.id = id->job;
  row.leader = id->leader;
  row.is_step = id->is_step;
  row.job.total_cpu =
      checked(Column::kTotalCpu, "[days-]hours:minutes:seconds", read_elapsed(rows_.cell(Column::kTotalCpu)));
  if (row.job.total_cpu == Duration::zero()) row.job.total_cpu.reset();
  constexpr double kByte = 1.0 / 1024;
  if (const auto used =
          checked(Column::kMaxRss, "a size such as 812K", read_memory(rows_.cell(Column::kMaxRss), kByte)))
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
    throw InputError(fmt::format("field {}: expected {}, found '{}'", name_of(column), expected,
                                 visible_text(rows_.cell(column), 40)));
  return read.value;
}

void Reader::read_times(Row& row) {
  const auto time = [&](Column column) {
    return checked(column, "a time such as 2024-03-01T12:00:00", read_time(rows_.cell(column), clock_));
  };
  Job& job = row.job;
  const auto submit = time(Column::kSubmit), eligible = time(Column::kEligible);
  row.has_submit = submit || eligible;
  job.submit = submit ? *submit : eligible.value_or(0);
  if (eligible && *eligible > job.submit) job.eligible = eligible;
  job.start = time(Column::kStart);
  job.end = time(Column::kEnd);
  read_state_cell(job);
  std::optional<Duration> elapsed;
  if (const auto raw = checked(Column::kElapsedRaw, "seconds", read_count(rows_.cell(Column::kElapsedRaw)));
      raw && *raw <= kMostSwfRunSeconds)
    elapsed = std::chrono::seconds{*raw};
  if (!elapsed)
    elapsed = checked(Column::kElapsed, "[days-]hours:minutes:seconds", read_elapsed(rows_.cell(Column::kElapsed)));
  if (row.has_submit) settle_repeated_hour(job, elapsed);
  if (!elapsed && job.start && job.end && *job.end >= *job.start) elapsed = std::chrono::seconds{*job.end - *job.start};
  if (job.fate != Fate::kUnfinished) job.elapsed = elapsed;
  if (!eligible) job.eligible = eligible_without_cell(job);
  if (const auto minutes = checked(Column::kTimeLimitRaw, "minutes", read_count(rows_.cell(Column::kTimeLimitRaw)));
      minutes && *minutes <= kMostSwfRunSeconds / 60)
    row.job.time_limit = std::chrono::minutes{*minutes};
  if (!row.job.time_limit)
    row.job.time_limit =
        checked(Column::kTimeLimit, "[days-]hours:minutes:seconds", read_elapsed(rows_.cell(Column::kTimeLimit)));
}

// Planned, which Slurm called Reserved before 21.08, is the wait from then to the start. A job whose cell of Eligible says
// nothing never could start: it was cancelled while it was held or waited for another one.
std::optional<std::int64_t> Reader::eligible_without_cell(const Job& job) const {
  if (rows_.has(Column::kEligible) && job.end && (!job.start || *job.start == *job.end)) return job.end;
  auto wait = checked(Column::kPlanned, "[days-]hours:minutes:seconds", read_elapsed(rows_.cell(Column::kPlanned)));
  if (!wait)
    wait = checked(Column::kReserved, "[days-]hours:minutes:seconds", read_elapsed(rows_.cell(Column::kReserved)));
  if (!wait || !job.start) return std::nullopt;
  const std::int64_t eligible = *job.start - std::chrono::duration_cast<std::chrono::seconds>(*wait).count();
  return eligible > job.submit ? std::optional{eligible} : std::nullopt;
}

// A word that sacct(1) may have got later: the rest of the row says what there is to know.
void Reader::read_state_cell(Job& job) {
  if (!rows_.has(Column::kState)) {
    if (!job.end && rows_.has(Column::kEnd)) job.fate = Fate::kUnfinished;
    return;
  }
  const std::string_view state = rows_.cell(Column::kState);
  job.fate = read_state(state);
  if (job.fate) return;
  if (!may_be_state(state))
    throw InputError(
        fmt::format("field State: expected a state of a job such as COMPLETED, found '{}'", visible_text(state, 40)));
  if (tally_.unknown_states++ == 0) tally_.unknown_state = visible_text(state, 40);
  if (!job.end) job.fate = Fate::kUnfinished;
}

// Of an hour that autumn repeats, local times do not say which one they mean: the first, unless a job had started before
// its submission, ended before its start, or ran for another time than it says.
void Reader::settle_repeated_hour(Job& job, std::optional<Duration> elapsed) const {
  if (!job.start) return;
  const auto agree = [&](std::int64_t start, std::optional<std::int64_t> end) {
    return start >= job.submit &&
           (!end || (*end >= start && (!elapsed || std::chrono::seconds{*end - start} == *elapsed)));
  };
  if (agree(*job.start, job.end)) return;
  const auto later = [&](std::optional<std::int64_t> time, Column column) {
    const bool is_local = rows_.cell(column).find(':') != std::string_view::npos;
    return time && is_local ? clock_.same_time_later(*time) : std::nullopt;
  };
  const std::optional<std::int64_t> starts[] = {job.start, later(job.start, Column::kStart)};
  const std::optional<std::int64_t> ends[] = {job.end, later(job.end, Column::kEnd)};
  for (const auto& start : starts)
    for (const auto& end : ends)
      if (start && end.has_value() == job.end.has_value() && agree(*start, end)) {
        job.start = start, job.end = end;
        return;
      }
  if (*job.start < job.submit && starts[1]) job.start = starts[1];
  if (job.end && *job.end < *job.start && ends[1]) job.end = ends[1];
}

std::optional<std::int64_t> Reader::processors(Column first, Column second, Column resources) const {
  const auto within_range = [](Cell<std::int64_t> read) {
    if (read.value && *read.value > kMostProcessors) read.is_right = false;
    return read;
  };
  for (const Column column : {first, second})
    if (const auto count = checked(column, "a count", within_range(read_count(rows_.cell(column))));
        count && *count > 0)
      return count;
  const auto count =
      checked(resources, "a list such as cpu=8,mem=32G", within_range(read_resource(rows_.cell(resources), "cpu")));
  return count && *count > 0 ? count : std::nullopt;
}

void Reader::read_sizes(Row& row) {
  row.job.has_allocation_column =
      rows_.has(Column::kAllocCpus) || rows_.has(Column::kNCpus) || rows_.has(Column::kAllocTres);
  row.job.allocated = processors(Column::kAllocCpus, Column::kNCpus, Column::kAllocTres);
  row.job.requested = processors(Column::kReqCpus, Column::kReqCpus, Column::kReqTres);
}

void Reader::read_memory_cells(Row& row) {
  constexpr double kMegabyte = 1024;
  const auto memory =
      checked(Column::kReqMem, "a size such as 4000Mc or 16G", read_memory(rows_.cell(Column::kReqMem), kMegabyte));
  const auto nodes = checked(Column::kNNodes, "a count", read_count(rows_.cell(Column::kNNodes)));
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
      if (!rows_.cell(column).empty()) return clean_line(rows_.cell(column), kLongestName);
    return std::string{};
  };
  row.job.user = first_of({Column::kUser, Column::kUid});
  row.job.group = first_of({Column::kGroup, Column::kGid, Column::kAccount});
  row.job.name = first_of({Column::kJobName});
  row.job.queue = first_of({Column::kQos});
  row.job.partition = first_of({Column::kPartition});
  row.job.cluster = first_of({Column::kCluster});
  row.job.after = accounting::slurm_dependency(rows_.cell(Column::kSubmitLine), row.id);
  row.job.restarts = checked(Column::kRestarts, "a count", read_count(rows_.cell(Column::kRestarts))).value_or(0);
}

}  // namespace replay::sacct
