// The section of simulator_bench that measures policies of moldable jobs: whole runs on the workload W1 of the SCOJO-P
// paper by length, and what a policy's passes cost, each and per start, while the queue keeps its length.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {

struct MoldableRuns {
  std::string replay;  ///< the program
  int rounds = 5;
  std::uint64_t most_jobs = 100'000;
  int longest_s = 120;  ///< a run that takes more CPU time is stopped, and its policy left out of longer traces
};

/// Prints markdown tables.
void measure_moldable(const TemporaryFolder& folder, const MoldableRuns& what);

}  // namespace replay::bench
