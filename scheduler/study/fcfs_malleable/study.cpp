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

struct PartCell : Cell {
  const MalleableLog* log;
  JobRange range;
  std::optional<double> long_cpu_use{};
};

Workload part_of(const PartCell& cell) {
  const auto& all = cell.log->workload.jobs;
  const std::size_t first = std::min(cell.range.skip, all.size());
  const std::size_t count = std::min(cell.range.count, all.size() - first);
  Workload part;
  part.jobs.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) {
    TracedJob job = all[i];
    if (cell.long_cpu_use && is_long(job)) job.job.declared.cpu_use = job.truth.behaviour.cpu_use = *cell.long_cpu_use;
    part.jobs.push_back(job);
  }
  return part;
}

Figures facts_of(const MalleableLog& log) {
  double sum = 0, long_sum = 0, long_jobs = 0;
  for (const TracedJob& job : log.workload.jobs) {
    sum += job.truth.behaviour.cpu_use;
    if (!is_long(job)) continue;
    ++long_jobs;
    long_sum += job.truth.behaviour.cpu_use;
  }
  const auto jobs = static_cast<double>(log.workload.jobs.size());
  return {{"CPUs", log.processors},
          {"jobs", jobs},
          {"with CPU use", static_cast<double>(log.with_cpu_use) / jobs},
          {"CPU use", sum / jobs},
          {"long jobs", long_jobs},
          {"long CPU use", long_sum / long_jobs}};
}

Figures simulate_part(const PartCell& cell) {
  Demand demand;
  const metrics::Summary summary =
      simulate_one(part_of(cell), cell.policy,
                   {.machine = Machine::pool(cell.log->processors), .runtime_model = "utrera"}, {&demand});
  Figures figures{{"demand", demand.mean() / cell.log->processors}};
  for (const char* name :
       {"mean_wait", "mean_execution", "mean_response", "mean_slowdown", "mean_mpl", "fragmentation"})
    figures[name] = summary.value(name);
  return figures;
}

std::vector<PartCell> cells_of(const std::vector<MalleableLog>& logs, bool quick) {
  std::vector<PartCell> cells;
  for (const MalleableLog& log : logs) {
    const auto add = [&](const JobRange& range, std::string_view policy, std::optional<double> use = {}) {
      cells.push_back({{malleable_cell(log.name, range.name, policy, use), std::string{policy}}, &log, range, use});
    };
    const std::vector<JobRange> ranges = ranges_of(log.name, log.workload.jobs.size(), quick);
    for (const JobRange& range : ranges)
      for (const std::string_view policy : kMalleablePolicies) add(range, policy);
    if (log.name != kSdscSp2Log.name) continue;
    for (const double use : kLongCpuUses)  // EASY does not depend on it: no jobs share cores
      for (const std::string_view policy : kMalleablePolicies)
        if (policy != "easy") add(ranges.front(), policy, use);
  }
  return cells;
}

void add_figure_2(Findings& found) {
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
  for (const char* policy : {"fcfs", "easy", "fcfs-malleable"}) {
    metrics::JobTable jobs;
    const metrics::Summary summary =
        simulate_one(workload, policy, {.machine = Machine::pool(kCores), .runtime_model = "isolated"}, {&jobs});
    Figures figures{{"response", summary.value("mean_response") / seconds(kUnit)},
                    {"slowdown", summary.value("mean_slowdown")},
                    {"fragmentation", summary.value("fragmentation")}};
    for (const metrics::JobRow& job : jobs.rows()) {
      figures[fmt::format("start J{}", number(job.job))] = seconds(job.launched) / seconds(kUnit);
      figures[fmt::format("end J{}", number(job.job))] = seconds(job.finished) / seconds(kUnit);
    }
    found.add(fmt::format("figure 2/{}", policy), 1, figures);
  }
}

}  // namespace

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

std::string malleable_cell(std::string_view log, std::string_view range, std::string_view policy,
                           std::optional<double> long_cpu_use) {
  return fmt::format("{}, {}{}/{}", log, range, long_cpu_use ? fmt::format(", long jobs {}", *long_cpu_use) : "",
                     policy);
}

std::vector<double> swept_uses(const Findings& found, std::string_view log, std::string_view range) {
  std::vector<double> uses{kLongCpuUses.begin(), kLongCpuUses.end()};
  std::erase_if(uses, [&](double use) { return !found.has(malleable_cell(log, range, "fcfs-malleable", use)); });
  return uses;
}

Findings run_malleable_study(const std::vector<MalleableLog>& logs, bool quick, const Surroundings& surroundings) {
  Findings found{malleable_printed()};
  for (const MalleableLog& log : logs) found.add(log.name + "/log", 1, facts_of(log));
  run_cells(found, cells_of(logs, quick), surroundings, simulate_part);
  add_figure_2(found);
  return found;
}

Result reproduce_fcfs_malleable(const LogSearch& logs, bool quick, const Surroundings& surroundings) {
  std::vector<MalleableLog> read;
  for (const FoundLog& log : logs.found) read.push_back(read_malleable_log(log));
  return malleable_result(run_malleable_study(read, quick, surroundings), read, quick);
}

}  // namespace replay::study
