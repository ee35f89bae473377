#include "traces/convert/sacct_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

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
};

std::int32_t count_of(const std::optional<std::int64_t>& count) {
  return count ? static_cast<std::int32_t>(std::min<std::int64_t>(*count, std::numeric_limits<std::int32_t>::max()))
               : -1;
}

std::int32_t status_of(const Job& job) {
  if (!job.fate || *job.fate == Fate::kUnfinished) return -1;
  return *job.fate == Fate::kCompleted ? 1 : *job.fate == Fate::kCancelled ? 5 : 0;
}

// A job that was cancelled while it waited has no processors and no run time; some versions of Slurm print the moment
// of its end as its start.
bool has_run(const Job& job) {
  return job.allocated && job.start && job.elapsed && (*job.elapsed > Duration::zero() || status_of(job) != 5);
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
  if (job.fate == Fate::kUnfinished) record.allocated = count_of(job.allocated);
  if (!has_run(job)) return record;
  record.run = *job.elapsed;
  record.allocated = count_of(job.allocated);
  record.used_memory = job.used_memory.value_or(-1);
  if (job.total_cpu) record.average_cpu = Duration{job.total_cpu->count() / *job.allocated};
  return record;
}

std::int64_t most_in_use(const std::vector<Dated>& jobs) {
  std::vector<std::pair<Duration, std::int64_t>> changes;
  for (const Dated& job : jobs) {
    if (job.wait < 0 || job.record.allocated < 0 || job.record.run <= Duration::zero()) continue;
    const Duration start = std::chrono::seconds{job.submit + job.wait};
    changes.emplace_back(start, job.record.allocated);
    changes.emplace_back(start + job.record.run, -job.record.allocated);
  }
  std::ranges::sort(changes);
  std::int64_t used = 0, most = 0;
  for (const auto& [at, change] : changes) most = std::max(most, used += change);
  return most;
}

void add_table(SwfHeader& header, const std::string& label, const std::string& most, const Names& names) {
  if (names.order().empty()) return;
  header.add(most, fmt::format("{}", names.order().size()));
  for (std::size_t i = 0; i < names.order().size(); ++i)
    header.add(label, fmt::format("{} {}", i + 1, names.order()[i]));
}

}  // namespace

Trace read_trace(Reader& reader, std::optional<CoreCount> machine_size) {
  Trace trace;
  Names users, groups, executables, queues, partitions, clusters;
  std::vector<Dated> jobs;
  std::int64_t last_end = 0;
  for (Job job; reader.next(job);) {
    Dated dated{job.submit, wait_of(job), record_of(job)};
    dated.record.user = users.number(job.user);
    dated.record.group = groups.number(job.group);
    dated.record.executable = executables.number(job.name);
    dated.record.queue = queues.number(job.qos);
    dated.record.partition = partitions.number(job.partition);
    static_cast<void>(clusters.number(job.cluster));
    last_end = std::max(last_end, job.end.value_or(0));
    if (!jobs.empty() && job.submit < jobs.back().submit) trace.was_sorted = false;
    jobs.push_back(std::move(dated));
  }
  std::ranges::stable_sort(jobs, {}, &Dated::submit);
  trace.most_in_use = most_in_use(jobs);
  const std::int64_t zero = jobs.front().submit;
  for (const Dated& job : jobs) {
    SwfRecord& record = trace.records.emplace_back(job.record);
    record.job = static_cast<std::int64_t>(trace.records.size());
    record.submit = std::chrono::seconds{job.submit - zero};
    record.wait = std::chrono::seconds{job.wait};
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
  header.add("TimeZoneString", reader.clock().name());
  header.add("StartTime", reader.clock().text(zero));
  if (last_end >= zero) header.add("EndTime", reader.clock().text(last_end));
  if (machine_size) header.add("MaxProcs", fmt::format("{}", *machine_size));
  add_table(header, "Queue", "MaxQueues", queues);
  add_table(header, "Partition", "MaxPartitions", partitions);
  return trace;
}

}  // namespace replay::sacct
