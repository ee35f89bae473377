// Several policies on one trace as whole processes, in turns: what the sections of simulator_bench about some policies
// share.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/perf/whole_runs.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {

/// How the runs of a race are made.
struct RaceRules {
  std::string replay;  ///< the program
  int rounds = 5;
  int longest_s = 120;  ///< a run that takes more CPU time is stopped, and its policy left out of later races
  Words options{};      ///< of `replay simulate`
};

struct PolicyRunner {
  std::string policy;
  std::vector<double> user_s{};
  bool stopped = false;
};

inline constexpr const char* kRaceColumns = "| workload | policy | user CPU s | fastest-slowest |\n|---|---|---|---|\n";

/// The runners take turns; prints a row for each: the median of the rounds. What takes longer than 5 s is run once.
void race(const TemporaryFolder& folder, const RaceRules& rules, const std::string& trace, const std::string& name,
          std::vector<PolicyRunner>& runners);

}  // namespace replay::bench
