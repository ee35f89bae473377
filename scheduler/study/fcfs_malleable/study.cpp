#include "scheduler/study/fcfs_malleable/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scheduler/base/error.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "traces/workload_reader.hpp"

namespace replay::study {
namespace {

constexpr std::array<std::string_view, 4> kPolicies{"easy", "fcfs-malleable", "fcfs-malleable:expand=eager",
                                                    "easy-malleable"};
constexpr std::uint64_t kSeed = 1;      // of OV
constexpr std::size_t kWindow = 5'000;  // 20K to 25K
constexpr std::array<double, 5> kLongCpuUses{0.6, 0.7, 0.8, 0.9, 1.0};

bool is_long(const TracedJob& job) {
  return job.job.processes > malleable_paper::kLongProcesses &&
         seconds(job.truth.runtime) > malleable_paper::kLongRuntime_s;
}

// Processors asked for by the jobs that wait or run, integrated over time.
class Demand final : public history::Observer {
 public:
  void on_submit(Instant at, const history::JobState& job) override { change(at, job.requested); }
  void on_end(Instant at, const history::JobState& job, const JobEnd& /*end*/) override { change(at, -job.requested); }
  [[nodiscard]] double mean() const { return elapsed_s_ > 0 ? integral_ / elapsed_s_ : 0; }

 private:
  void change(Instant at, std::int64_t by) {
    if (has_begun_) {
      elapsed_s_ += seconds(at - last_);
      integral_ += seconds(at - last_) * static_cast<double>(now_);
    }
    has_begun_ = true, last_ = at, now_ += by;
  }

  bool has_begun_ = false;
  Instant last_{};
  std::int64_t now_ = 0;
  double elapsed_s_ = 0, integral_ = 0;
};

Workload part_of(const Workload& all, const MalleableRun& run) {
  const std::size_t first = std::min(run.range.skip, all.jobs.size());
  const std::size_t count = std::min(run.range.count, all.jobs.size() - first);
  Workload part;
  part.jobs.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) {
    TracedJob job = all.jobs[i];
    if (run.long_cpu_use && is_long(job)) job.job.declared.cpu_use = job.truth.behaviour.cpu_use = *run.long_cpu_use;
    part.jobs.push_back(job);
  }
  return part;
}

MalleableOutcome::LogFacts facts_of(const MalleableLog& log) {
  MalleableOutcome::LogFacts facts{.name = log.name,
                                   .file = log.file,
                                   .processors = log.processors,
                                   .jobs = log.workload.jobs.size(),
                                   .with_cpu_use = log.with_cpu_use};
  double sum = 0, long_sum = 0;
  for (const TracedJob& job : log.workload.jobs) {
    sum += job.truth.behaviour.cpu_use;
    if (!is_long(job)) continue;
    ++facts.long_jobs;
    long_sum += job.truth.behaviour.cpu_use;
  }
  facts.mean_cpu_use = sum / static_cast<double>(facts.jobs);
  facts.mean_long_cpu_use = long_sum / static_cast<double>(facts.long_jobs);
  return facts;
}

}  // namespace

std::span<const std::string_view> malleable_policies() { return kPolicies; }

MalleableLog read_malleable_log(const FoundLog& found) {
  CleaningRules rules;
  rules.machine_size = found.log->processors;
  LoadedWorkload loaded = read_workload(found.file.string(), rules);
  if (loaded.workload.jobs.empty())
    throw InputError(fmt::format("{}: has no job that can be run", found.file.string()));
  draw_network_overheads(loaded.workload, kSeed);
  const std::size_t stand_ins = loaded.report.count("cpu-use-fallback");
  return {.name = std::string{found.log->name},
          .file = found.file.filename().string(),
          .processors = found.log->processors,
          .workload = std::move(loaded.workload),
          .with_cpu_use = loaded.report.kept - std::min<std::size_t>(stand_ins, loaded.report.kept)};
}

std::vector<JobRange> ranges_of(std::string_view log, std::size_t jobs, bool quick) {
  std::vector<JobRange> ranges;
  if (!quick) ranges.push_back({.name = "whole log"});
  const auto row = std::ranges::find(malleable_paper::kLogs, log, &malleable_paper::FirstJobs::log);
  if (row == malleable_paper::kLogs.end() || jobs <= row->jobs) {
    if (quick) ranges.push_back({.name = "whole log"});
    return ranges;
  }
  const std::size_t end = row->jobs, begin = end - kWindow;
  if (!quick) ranges.push_back({.name = fmt::format("first {}", end), .count = end});
  ranges.push_back({.name = fmt::format("{} to {}", begin, end), .skip = begin, .count = kWindow});
  return ranges;
}

const MalleableRun* MalleableOutcome::find(std::size_t log, std::string_view range, std::string_view policy,
                                           std::optional<double> long_cpu_use) const {
  const auto found = std::ranges::find_if(runs, [&](const MalleableRun& run) {
    return run.log == log && run.range.name == range && run.policy == policy && run.long_cpu_use == long_cpu_use;
  });
  return found == runs.end() ? nullptr : &*found;
}

MalleableOutcome run_malleable_study(const std::vector<MalleableLog>& logs, bool quick,
                                     const Surroundings& surroundings) {
  MalleableOutcome outcome;
  for (std::size_t l = 0; l < logs.size(); ++l) {
    outcome.logs.push_back(facts_of(logs[l]));
    const std::vector<JobRange> ranges = ranges_of(logs[l].name, logs[l].workload.jobs.size(), quick);
    for (const JobRange& range : ranges) {
      outcome.logs.back().ranges.push_back(range.name);
      for (const std::string_view policy : kPolicies)
        outcome.runs.push_back({.log = l, .range = range, .policy = std::string{policy}});
    }
    if (logs[l].name != kSdscSp2Log.name) continue;
    for (const double use : kLongCpuUses)  // EASY does not depend on it: no jobs share cores
      for (const std::string_view policy : kPolicies)
        if (policy != "easy")
          outcome.runs.push_back(
              {.log = l, .range = ranges.front(), .policy = std::string{policy}, .long_cpu_use = use});
  }
  run_all(surroundings, "fcfs-malleable", outcome.runs.size(), [&](std::size_t i) {
    MalleableRun& run = outcome.runs[i];
    const MalleableLog& log = logs[run.log];
    const Workload workload = part_of(log.workload, run);
    Demand demand;
    run.summary =
        simulate_one(workload, run.policy, {.machine = Machine::pool(log.processors), .runtime_model = "utrera"},
                     surroundings, {&demand});
    run.demand = demand.mean() / log.processors;
  });
  return outcome;
}

std::vector<Figure2Outcome> run_figure_2(const Surroundings& surroundings) {
  constexpr CoreCount kCores = 10;
  constexpr Duration kUnit = std::chrono::minutes{1};
  Workload workload;
  for (std::size_t i = 0; i < malleable_paper::kFigure2Sizes.size(); ++i) {
    TracedJob job;
    job.job.id = static_cast<JobId>(i + 1);
    job.job.processes = malleable_paper::kFigure2Sizes[i];
    job.job.estimate = job.truth.runtime = kUnit * malleable_paper::kFigure2Runtimes[i];
    workload.jobs.push_back(job);
  }
  std::vector<Figure2Outcome> rows;
  for (const auto& paper : malleable_paper::kFigure2) {
    metrics::JobTable jobs;
    const metrics::Summary summary = simulate_one(
        workload, paper.policy, {.machine = Machine::pool(kCores), .runtime_model = "isolated"}, surroundings, {&jobs});
    Figure2Outcome row{.policy = std::string{paper.policy},
                       .response = summary.value("mean_response") / seconds(kUnit),
                       .slowdown = summary.value("mean_slowdown"),
                       .fragmentation = summary.value("fragmentation")};
    for (const metrics::JobRow& job : jobs.rows()) {
      row.starts.push_back(seconds(job.launched) / seconds(kUnit));
      row.ends.push_back(seconds(job.finished) / seconds(kUnit));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result reproduce_fcfs_malleable(const LogSearch& logs, bool quick, const Surroundings& surroundings) {
  std::vector<MalleableLog> read(logs.found.size());
  surroundings.for_each(read.size(), [&](std::size_t i) { read[i] = read_malleable_log(logs.found[i]); });
  return malleable_result(run_malleable_study(read, quick, surroundings), run_figure_2(surroundings), quick);
}

}  // namespace replay::study
