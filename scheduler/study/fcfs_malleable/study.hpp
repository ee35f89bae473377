// FCFS-malleable against EASY on three logs of the archive, and SDSC again with other CPU use of its long jobs.
// Source: Utrera et al. 2012: Figures 2 and 3, Tables 2 and 3. Runtime model `utrera`, one pool of processors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/metrics/summary.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/result.hpp"
#include "scheduler/study/simulation.hpp"

namespace replay::study {

/// A log as the study takes it: cleaned, with OV of formula (4) drawn.
struct MalleableLog {
  std::string name, file;
  CoreCount processors = 1;
  Workload workload;
  std::size_t with_cpu_use = 0;  ///< jobs with a CPU use in the log; the others have a stand-in
};
[[nodiscard]] MalleableLog read_malleable_log(const FoundLog& found);

/// A part of a log's jobs: from `skip` on, at most `count`. Table 2's "20K-25K" jobs can be read in more ways than one.
struct JobRange {
  std::string name;
  std::size_t skip = 0, count = SIZE_MAX;
};
/// The whole log, its first jobs, and the jobs from 20,000 to 25,000 (SDSC: 40,000 to 45,000); quick: only those.
[[nodiscard]] std::vector<JobRange> ranges_of(std::string_view log, std::size_t jobs, bool quick);

struct MalleableRun {
  std::size_t log = 0;
  JobRange range;
  std::string policy;
  std::optional<double> long_cpu_use{};  ///< of every long job, instead of its own
  metrics::Summary summary{};
  double demand = 0;  ///< processors that waiting and running jobs ask for, mean over time, over those of the machine
};

struct MalleableOutcome {
  struct LogFacts {
    std::string name, file;
    CoreCount processors = 1;
    std::size_t jobs = 0, with_cpu_use = 0, long_jobs = 0;
    double mean_cpu_use = 0, mean_long_cpu_use = 0;  ///< shares; NaN of no jobs
    std::vector<std::string> ranges{};
  };
  std::vector<LogFacts> logs;
  std::vector<MalleableRun> runs;

  /// Null if it was not run.
  [[nodiscard]] const MalleableRun* find(std::size_t log, std::string_view range, std::string_view policy,
                                         std::optional<double> long_cpu_use = {}) const;
};

/// What is compared: easy, fcfs-malleable as in the paper, its eager variant, easy-malleable.
[[nodiscard]] std::span<const std::string_view> malleable_policies();

[[nodiscard]] MalleableOutcome run_malleable_study(const std::vector<MalleableLog>& logs, bool quick,
                                                   const Surroundings& surroundings);

/// A row for each policy of Figure 2, by simulation.
struct Figure2Outcome {
  std::string policy;
  double response = 0, slowdown = 0, fragmentation = 0;  ///< time units, ratio, share
  std::vector<double> starts{}, ends{};                  ///< time units
};
[[nodiscard]] std::vector<Figure2Outcome> run_figure_2(const Surroundings& surroundings);

[[nodiscard]] Result malleable_result(const MalleableOutcome& outcome, const std::vector<Figure2Outcome>& figure_2,
                                      bool quick);

/// All of it, from the logs that were found.
[[nodiscard]] Result reproduce_fcfs_malleable(const LogSearch& logs, bool quick, const Surroundings& surroundings);

}  // namespace replay::study
