#include "traces/convert/accounting_trace.hpp"

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

namespace replay::accounting {
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
  std::optional<std::int64_t> start, end;
  std::optional<Fate> fate;
  Duration eligible;  // from the submission
  std::string after;  // id of the job whose end it had to wait for
  bool has_restarted = false;
  const std::string* key = nullptr;  // "CLUSTER|ID|SUBMIT", in Jobs
  bool is_gone = false;
};

// Numbers in texts count as numbers, so that task 10 of an array comes behind task 9.
bool is_before(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); };
  while (!a.empty() && !b.empty()) {
    const std::size_t in_a = digits(a), in_b = digits(b);
    if (in_a != in_b && in_a > 0 && in_b > 0) return in_a < in_b;  // ids have no leading zeros
    const std::size_t length = std::max<std::size_t>(std::min(in_a, in_b), 1);
    if (const int order = a.substr(0, length).compare(b.substr(0, length)); order != 0) return order < 0;
    a.remove_prefix(length);
    b.remove_prefix(length);
  }
  return a.empty() && !b.empty();
}

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
  void add(const std::string& text, Dated row) {
    auto& [key, same] = *rows_of_.try_emplace(text).first;
    row.key = &key;
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

  /// The jobs by submission, then by id, once all rows are there. Their keys stay here.
  std::vector<Dated> take() {
    for (auto& [key, same] : rows_of_)
      if (same.size() > 1) fold_resized(same);
    for (const auto& [key, row] : arrays_)
      if (has_task_of(key)) rows_[row].is_gone = true, ++repeated_;
    for (Dated& row : rows_)
      if (row.fate == Fate::kResized) row.record.run = kUnknownTime;  // it went on behind the end of the dump
    std::erase_if(rows_, [](const Dated& row) { return row.is_gone; });
    was_sorted_ = std::ranges::is_sorted(rows_, {}, &Dated::submit);
    std::ranges::stable_sort(rows_, [](const Dated& a, const Dated& b) {
      return a.submit != b.submit ? a.submit < b.submit : is_before(*a.key, *b.key);
    });
    return std::move(rows_);
  }

  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }
  [[nodiscard]] std::uint64_t resized() const { return resized_; }
  [[nodiscard]] bool was_sorted() const { return was_sorted_; }

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
      job.end = next.end;
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
  bool was_sorted_ = true;
};

void expect_one_cluster(const Names& clusters, std::string_view log) {
  if (clusters.order().size() < 2) return;
  throw InputError(fmt::format(
      "{}: expected the jobs of one cluster, found those of {}, {}{}: --cluster {} takes one; "
      "convert each into a log of its own",
      log, clusters.order()[0], clusters.order()[1], clusters.order().size() > 2 ? ", ..." : "", clusters.order()[0]));
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

// The names of a log, whose numbers stand in the records.
struct NameTables {
  Names users, groups, executables, queues, partitions, clusters;

  void set_numbers(SwfRecord& record, const Job& job) {
    record.user = users.number(job.user);
    record.group = groups.number(job.group);
    record.executable = executables.number(job.name);
    record.queue = queues.number(job.queue);
    record.partition = partitions.number(job.partition);
    static_cast<void>(clusters.number(job.cluster));
  }

  void renumber(std::vector<SwfRecord>& records) {
    users.renumber(records, &SwfRecord::user);
    groups.renumber(records, &SwfRecord::group);
    executables.renumber(records, &SwfRecord::executable);
    queues.renumber(records, &SwfRecord::queue);
    partitions.renumber(records, &SwfRecord::partition);
  }
};

// The jobs of the logs; the trace gets what is known of all of them.
std::vector<Dated> read_jobs(std::span<Reader* const> readers, Jobs& rows, NameTables& names, Trace& trace) {
  for (Reader* const reader : readers)
    for (Job job; reader->next(job);) {
      Dated row{.submit = job.submit,
                .wait = wait_of(job),
                .record = record_of(job),
                .start = job.start,
                .end = job.end,
                .fate = job.fate,
                .eligible = eligible_of(job),
                .after = std::move(job.after),
                .has_restarted = job.restarts > 0};
      names.set_numbers(row.record, job);
      trace.last_end = std::max(trace.last_end, job.end.value_or(0));
      if (!job.has_allocation_column && job.start) ++trace.without_size;
      rows.add(fmt::format("{}|{}|{}", job.cluster, job.id, job.submit), std::move(row));
    }
  expect_one_cluster(names.clusters, readers.front()->name());
  std::vector<Dated> jobs = rows.take();
  trace.repeated = rows.repeated();
  trace.resized = rows.resized();
  trace.was_sorted = rows.was_sorted();
  return jobs;
}

std::string_view cluster_of(const Dated& job) { return std::string_view(*job.key).substr(0, job.key->find('|') + 1); }

// The run whose end a job had to wait for: of several runs of that id the last one that had ended when the job could
// start. Nothing if it does not stand before the job, as no simulation could honour that.
std::optional<std::size_t> run_before(const std::vector<Dated>& jobs, std::size_t job,
                                      const std::vector<std::size_t>& runs) {
  const std::int64_t eligible =
      jobs[job].submit + std::chrono::duration_cast<std::chrono::seconds>(jobs[job].eligible).count();
  std::optional<std::size_t> last;
  for (const std::size_t run : runs)
    if (jobs[run].end && *jobs[run].end <= eligible && (!last || *jobs[run].end >= *jobs[*last].end)) last = run;
  return last && *last < job ? last : std::nullopt;
}

void set_dependencies(Trace& trace, const std::vector<Dated>& jobs) {
  const auto awaited = [](const Dated& job) { return fmt::format("{}{}", cluster_of(job), job.after); };
  std::unordered_map<std::string, std::vector<std::size_t>> runs;  // of the ids that are waited for
  for (const Dated& job : jobs)
    if (!job.after.empty()) runs.try_emplace(awaited(job));
  if (runs.empty()) return;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (const auto own = runs.find(jobs[i].key->substr(0, jobs[i].key->rfind('|'))); own != runs.end())
      own->second.push_back(i);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto before = jobs[i].after.empty() ? std::nullopt : run_before(jobs, i, runs.at(awaited(jobs[i])));
    if (!before) continue;
    trace.records[i].preceding = trace.records[*before].job;
    trace.records[i].think_time = std::chrono::seconds{jobs[i].submit - *jobs[*before].end} + jobs[i].eligible;
    ++trace.followers;
  }
}

// Jobs that ran before without a row that says so: sacct has it with --duplicates only.
std::uint64_t lone_runs(const std::vector<Dated>& jobs) {
  const auto id_of = [](const Dated& job) { return std::string_view(*job.key).substr(0, job.key->rfind('|')); };
  std::unordered_map<std::string_view, std::uint64_t> runs;
  for (const Dated& job : jobs)
    if (job.has_restarted) runs.emplace(id_of(job), 0);
  if (runs.empty()) return 0;
  for (const Dated& job : jobs)
    if (const auto run = runs.find(id_of(job)); run != runs.end()) ++run->second;
  return static_cast<std::uint64_t>(std::ranges::count(runs, 1U, [](const auto& run) { return run.second; }));
}

void add_records(Trace& trace, const std::vector<Dated>& jobs, const TraceOptions& options) {
  for (const Dated& job : jobs) {
    SwfRecord& record = trace.records.emplace_back(job.record);
    record.job = static_cast<std::int64_t>(trace.records.size());
    record.submit = std::chrono::seconds{job.submit - jobs.front().submit};
    record.wait = std::chrono::seconds{job.wait};
    trace.eligible.push_back(job.eligible);
    if (job.fate == Fate::kUnfinished) ++trace.unfinished;
    if (job.eligible > Duration::zero()) ++trace.later_eligible;
    if (record.requested_time >= Duration::zero()) continue;
    ++trace.without_limit;
    if (options.missing_limit) record.requested_time = std::max(*options.missing_limit, record.run);
  }
}

void describe(Trace& trace, std::int64_t zero, const NameTables& names, const Reader& reader,
              const std::optional<CoreCount>& machine_size) {
  SwfHeader& header = trace.header;
  header.add("Version", "2.2");
  for (const std::string& cluster : names.clusters.order()) header.add("Computer", cluster);
  header.add("Conversion", fmt::format("from {}", reader.format()));
  header.add("MaxJobs", fmt::format("{}", trace.records.size()));
  header.add("MaxRecords", fmt::format("{}", trace.records.size()));
  header.add("UnixStartTime", fmt::format("{}", zero));
  header.add("TimeZoneString", reader.clock().name());
  header.add("StartTime", reader.clock().text(zero));
  if (trace.last_end >= zero) header.add("EndTime", reader.clock().text(trace.last_end));
  if (machine_size) header.add("MaxProcs", fmt::format("{}", *machine_size));
  add_table(header, "Queue", "MaxQueues", names.queues);
  add_table(header, "Partition", "MaxPartitions", names.partitions);
}

Trace trace_of(std::span<Reader* const> readers, const TraceOptions& options) {
  Trace trace;
  Jobs rows;
  NameTables names;
  const std::vector<Dated> jobs = read_jobs(readers, rows, names, trace);
  trace.most_in_use = most_in_use(jobs);
  trace.lone_runs = lone_runs(jobs);
  add_records(trace, jobs, options);
  set_dependencies(trace, jobs);
  names.renumber(trace.records);
  describe(trace, jobs.front().submit, names, *readers.front(), options.machine_size);
  return trace;
}

}  // namespace

Trace read_trace(Reader& reader, const TraceOptions& options) {
  Reader* const readers[] = {&reader};
  return trace_of(readers, options);
}

Trace read_trace(std::span<const std::unique_ptr<Reader>> readers, const TraceOptions& options) {
  std::vector<Reader*> plain;
  for (const auto& reader : readers) plain.push_back(reader.get());
  return trace_of(plain, options);
}

}  // namespace replay::accounting
