// The section of simulator_bench that measures the simulator as a user has it, beside plain_loop: every policy on Lublin
// workloads of 10^4, 10^5, ... jobs at an offered load of 0.9, and on the KTH log.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/perf/whole_runs.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {

struct BesidePlainLoop {
  std::string replay;  ///< the programs
  std::string plain_loop;
  Words policies;
  std::string logs;  ///< folder of the archive's logs; may be empty
  int rounds = 5;
  std::uint64_t most_jobs = 1'000'000;
  int longest_s = 120;  ///< a run that takes more CPU time is stopped, and its policy left out of longer traces
};

/// Prints markdown tables.
void measure_beside_plain_loop(const TemporaryFolder& folder, const BesidePlainLoop& what);

}  // namespace replay::bench
