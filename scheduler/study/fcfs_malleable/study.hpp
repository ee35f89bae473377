// FCFS-malleable against EASY on three logs of the archive, and SDSC again with other CPU use of its long jobs.
// Source: Utrera et al. 2012: Figures 2 and 3, Tables 2 and 3. Runtime model `utrera`, one pool of processors.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/workload.hpp"
#include "scheduler/study/archive.hpp"
#include "scheduler/study/findings.hpp"
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

/// What is compared: easy, fcfs-malleable as in the paper, its eager variant, easy-malleable.
inline constexpr std::array<std::string_view, 4> kMalleablePolicies{"easy", "fcfs-malleable",
                                                                    "fcfs-malleable:expand=eager", "easy-malleable"};
/// Cells: "SDSC, whole log/easy", by range and policy; "SDSC, whole log, long jobs 0.6/fcfs-malleable": every long job has that
/// CPU use instead of its own. Figures: those of the run's summary, and "demand": processors that waiting and running jobs ask
/// for, mean over time, over those of the machine.
/// "SDSC/log": "CPUs", "jobs", "with CPU use", "long jobs"; "CPU use", "long CPU use": shares, NaN of no jobs.
/// "figure 2/easy" and its other policies, in time units: "response", "slowdown", "fragmentation", "start J1", "end J1", ...
[[nodiscard]] Findings run_malleable_study(const std::vector<MalleableLog>& logs, bool quick,
                                           const Surroundings& surroundings);
[[nodiscard]] std::string malleable_cell(std::string_view log, std::string_view range, std::string_view policy,
                                         std::optional<double> long_cpu_use = {});
/// CPU uses of long jobs that were simulated, on the log's first range, ascending.
[[nodiscard]] std::vector<double> swept_uses(const Findings& found, std::string_view log, std::string_view range);

[[nodiscard]] Result malleable_result(const Findings& found, const std::vector<MalleableLog>& logs, bool quick);

/// All of it, from the logs that were found.
[[nodiscard]] Result reproduce_fcfs_malleable(const LogSearch& logs, bool quick, const Surroundings& surroundings);

}  // namespace replay::study
