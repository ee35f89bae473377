#include "traces/convert/sacct_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/logged_use.hpp"

namespace replay::sacct {
namespace {

// Names in order of first appearance, from 1; -1 for an empty one.
class Names {
 public:
  std::int32_t number(const std::string& name) {
    if (name.empty()) return -1;
    const auto [entry, is_new] = numbers_.emplace(name, static_cast<std::int32_t>(numbers_.size() + 1));
    if (is_new) order_.push_back(name);
    return entry->second;
  }
  [[nodiscard]] const std::vector<std::string>& order() const { return order_; }

  /// Renumbers the names in the order of `records`; their `field` has the old numbers.
  void renumber(std::vector<SwfRecord>& records, std::int32_t SwfRecord::*field) {
    std::vector<std::int32_t> fresh(order_.size(), 0);
    std::vector<std::string> order;
    for (SwfRecord& record : records) {
      if (record.*field < 1) continue;
      const auto old = static_cast<std::size_t>(record.*field - 1);
      if (fresh[old] == 0) {
        order.push_back(order_[old]);
        fresh[old] = static_cast<std::int32_t>(order.size());
      }
      record.*field = fresh[old];
    }
    order_ = std::move(order);
  }

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<std::string> order_;
};

struct Dated {
  std::int64_t submit, wait;  // s; wait -1 if unknown
  SwfRecord record;
  std::optional<std::int64_t> start;
  std::optional<Fate> fate;
  Duration eligible;  // from the submission
  bool is_gone = false;
};

std::int32_t count_of(const std::optional<std::int64_t>& count) {
  return count ? static_cast<std::int32_t>(std::min<std::int64_t>(*count, std::numeric_limits<std::int32_t>::max()))
               : -1;
}

std::int32_t status_of(const Job& job) {
  if (!job.fate || *job.fate == Fate::kUnfinished || *job.fate == Fate::kResized) return -1;
  return *job.fate == Fate::kCompleted ? 1 : *job.fate == Fate::kCancelled ? 5 : 0;
}

// A job that was cancelled while it waited has no processors and no run time; some versions of Slurm print the moment
// of its end as its start.
bool has_run(const Job& job) {
  const bool has_size = job.allocated || (!job.has_allocation_column && job.requested);
  return has_size && job.start && job.elapsed && (*job.elapsed > Duration::zero() || status_of(job) != 5);
}

std::int64_t wait_of(const Job& job) {
  const auto left_queue = job.start ? job.start : job.end;
  return left_queue && *left_queue >= job.submit ? *left_queue - job.submit : -1;
}

SwfRecord record_of(const Job& job) {
  SwfRecord record;
  record.requested = count_of(job.requested);
  record.requested_time = job.time_limit.value_or(kUnknownTime);
  record.requested_memory = job.requested_memory.value_or(-1);
  record.status = status_of(job);
  if (job.fate == Fate::kUnfinished || job.fate == Fate::kResized) record.allocated = count_of(job.allocated);
  if (!has_run(job)) return record;
  record.run = *job.elapsed;
  record.allocated = count_of(job.allocated);
  record.used_memory = job.used_memory.value_or(-1);
  if (job.total_cpu)
    record.average_cpu = Duration{job.total_cpu->count() / (job.allocated ? *job.allocated : *job.requested)};
  return record;
}

constexpr Duration kMost = std::chrono::seconds{kMostSwfRunSeconds};

Duration eligible_of(const Job& job) {
  if (!job.eligible) return Duration::zero();
  const std::int64_t at = job.start ? std::min(*job.eligible, *job.start) : *job.eligible;
  return std::clamp<Duration>(std::chrono::seconds{at - job.submit}, Duration::zero(), kMost);
}

// The rows of the dumps, and which of them are one job: overlapping dumps show a run several times, perhaps as running or
// waiting first; a job that changes its size has a row for each. Slurm uses ids again, and a requeued job keeps its own,
// so the submission belongs to the key; of that, runs that differ in their start are jobs of their own.
class Jobs {
 public:
  void add(const std::string& key, Dated row) {
    std::vector<std::size_t>& same = rows_of_[key];
    for (const std::size_t other : same)
      if (is_same_run(rows_[other], row)) {
        ++repeated_;
        if (says_more(row, rows_[other])) rows_[other] = std::move(row);
        return;
      }
    same.push_back(rows_.size());
    if (waits(row) && key.find("_[") != std::string::npos) arrays_.emplace_back(key, rows_.size());
    rows_.push_back(std::move(row));
  }

  /// The jobs in the order of the dump, once all rows are there.
  std::vector<Dated> take() {
    for (auto& [key, same] : rows_of_)
      if (same.size() > 1) fold_resized(same);
    for (const auto& [key, row] : arrays_)
      if (has_task_of(key)) rows_[row].is_gone = true, ++repeated_;
    for (Dated& row : rows_)
      if (row.fate == Fate::kResized) row.record.run = kUnknownTime;  // it went on behind the end of the dump
    std::erase_if(rows_, [](const Dated& row) { return row.is_gone; });
    return std::move(rows_);
  }

  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }
  [[nodiscard]] std::uint64_t resized() const { return resized_; }

 private:
  static bool waits(const Dated& row) { return !row.start && row.fate == Fate::kUnfinished; }
  static bool is_same_run(const Dated& a, const Dated& b) { return a.start == b.start || waits(a) || waits(b); }
  static bool says_more(const Dated& row, const Dated& than) {
    return !waits(row) && (row.fate != Fate::kUnfinished || than.fate == Fate::kUnfinished);
  }

  // SWF has one size for a job: that with which it started, for as long as all its sizes ran.
  void fold_resized(std::vector<std::size_t>& same) {
    std::ranges::sort(same, {}, [this](std::size_t i) { return rows_[i].start; });
    std::size_t first = same.front();
    for (std::size_t i = 1; i < same.size(); ++i) {
      Dated& job = rows_[first];
      Dated& next = rows_[same[i]];
      if (job.fate != Fate::kResized) {
        first = same[i];
        continue;
      }
      ++resized_;
      next.is_gone = true;
      const bool is_known = job.record.run >= Duration::zero() && next.record.run >= Duration::zero();
      job.record.run = is_known ? std::min<Duration>(job.record.run + next.record.run, kMost) : kUnknownTime;
      job.record.average_cpu = kUnknownTime;
      job.record.status = next.record.status;
      job.record.used_memory = std::max(job.record.used_memory, next.record.used_memory);
      job.fate = next.fate;
    }
  }

  // Whether a task of the waiting rest of an array, "1003_[2,5-9%2]", has a row of its own.
  [[nodiscard]] bool has_task_of(const std::string& key) const {
    const std::size_t open = key.rfind("_["), close = key.find(']', open);
    if (close == std::string::npos) return false;
    const std::string before = key.substr(0, open + 1), behind = key.substr(close + 1);
    std::string_view list = std::string_view(key).substr(open + 2, close - open - 2);
    list = list.substr(0, list.find('%'));
    constexpr std::int64_t kMostTasks = 4'000'001;  // of an array in Slurm
    std::int64_t tasks = 0;
    for (const std::string_view range : split(list, ',')) {
      const auto first = parse_number<std::int64_t>(range.substr(0, range.find('-')), 0, kMostTasks);
      const auto last = parse_number<std::int64_t>(range.substr(range.find('-') + 1), 0, kMostTasks);
      if (!first || !last) continue;
      for (std::int64_t task = *first; task <= *last && ++tasks <= kMostTasks; ++task)
        if (rows_of_.contains(fmt::format("{}{}{}", before, task, behind))) return true;
    }
    return false;
  }

  std::vector<Dated> rows_;
  std::unordered_map<std::string, std::vector<std::size_t>> rows_of_;
  std::vector<std::pair<std::string, std::size_t>> arrays_;  // keys and rows of arrays' waiting rests
  std::uint64_t repeated_ = 0, resized_ = 0;
};

void expect_one_cluster(const Names& clusters, std::string_view dump) {
  if (clusters.order().size() < 2) return;
  throw InputError(fmt::format(
      "{}: expected the jobs of one cluster, found those of {}, {}{}: --cluster {} takes one; "
      "convert each into a log of its own",
      dump, clusters.order()[0], clusters.order()[1], clusters.order().size() > 2 ? ", ..." : "", clusters.order()[0]));
}

std::int64_t most_in_use(const std::vector<Dated>& jobs) {
  LoggedUse use;
  for (const Dated& job : jobs) {
    const std::int64_t size = job.record.allocated > 0 ? job.record.allocated : job.record.requested;
    if (job.wait < 0 || size < 1 || job.record.run <= Duration::zero()) continue;
    use.add(std::chrono::seconds{job.submit + job.wait}, job.record.run, size);
  }
  return use.most();
}

void add_table(SwfHeader& header, const std::string& label, const std::string& most, const Names& names) {
  if (names.order().empty()) return;
  header.add(most, fmt::format("{}", names.order().size()));
  for (std::size_t i = 0; i < names.order().size(); ++i)
    header.add(label, fmt::format("{} {}", i + 1, names.order()[i]));
}

}  // namespace

Trace read_trace(std::span<Reader> readers, const TraceOptions& options) {
  Trace trace;
  Names users, groups, executables, queues, partitions, clusters;
  Jobs rows;
  std::int64_t last_end = 0;
  for (Reader& reader : readers)
    for (Job job; reader.next(job);) {
      Dated row{job.submit, wait_of(job), record_of(job), job.start, job.fate, eligible_of(job)};
      row.record.user = users.number(job.user);
      row.record.group = groups.number(job.group);
      row.record.executable = executables.number(job.name);
      row.record.queue = queues.number(job.qos);
      row.record.partition = partitions.number(job.partition);
      static_cast<void>(clusters.number(job.cluster));
      last_end = std::max(last_end, job.end.value_or(0));
      trace.sizes_are_requests = trace.sizes_are_requests || !job.has_allocation_column;
      rows.add(fmt::format("{}|{}|{}", job.cluster, job.id, job.submit), std::move(row));
    }
  expect_one_cluster(clusters, readers.front().name());
  std::vector<Dated> jobs = rows.take();
  trace.repeated = rows.repeated();
  trace.resized = rows.resized();
  trace.was_sorted = std::ranges::is_sorted(jobs, {}, &Dated::submit);
  std::ranges::stable_sort(jobs, {}, &Dated::submit);
  trace.most_in_use = most_in_use(jobs);
  const std::int64_t zero = jobs.front().submit;
  for (const Dated& job : jobs) {
    SwfRecord& record = trace.records.emplace_back(job.record);
    record.job = static_cast<std::int64_t>(trace.records.size());
    record.submit = std::chrono::seconds{job.submit - zero};
    record.wait = std::chrono::seconds{job.wait};
    trace.eligible.push_back(job.eligible);
    if (job.fate == Fate::kUnfinished) ++trace.unfinished;
    if (job.eligible > Duration::zero()) ++trace.later_eligible;
    if (record.requested_time >= Duration::zero()) continue;
    ++trace.without_limit;
    if (options.missing_limit) record.requested_time = std::max(*options.missing_limit, record.run);
  }

  users.renumber(trace.records, &SwfRecord::user);
  groups.renumber(trace.records, &SwfRecord::group);
  executables.renumber(trace.records, &SwfRecord::executable);
  queues.renumber(trace.records, &SwfRecord::queue);
  partitions.renumber(trace.records, &SwfRecord::partition);

  SwfHeader& header = trace.header;
  header.add("Version", "2.2");
  for (const std::string& cluster : clusters.order()) header.add("Computer", cluster);
  header.add("Conversion", "from sacct");
  header.add("MaxJobs", fmt::format("{}", trace.records.size()));
  header.add("MaxRecords", fmt::format("{}", trace.records.size()));
  header.add("UnixStartTime", fmt::format("{}", zero));
  header.add("TimeZoneString", readers.front().clock().name());
  header.add("StartTime", readers.front().clock().text(zero));
  if (last_end >= zero) header.add("EndTime", readers.front().clock().text(last_end));
  if (options.machine_size) header.add("MaxProcs", fmt::format("{}", *options.machine_size));
  add_table(header, "Queue", "MaxQueues", queues);
  add_table(header, "Partition", "MaxPartitions", partitions);
  return trace;
}

}  // namespace replay::sacct
