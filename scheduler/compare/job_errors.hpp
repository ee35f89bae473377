// Errors of a simulation against a real run, job by job. Means hide errors that cancel, as those of a job that waits an
// hour too long and one that waits an hour too short.
#pragma once

#include <cstddef>

#include "scheduler/metrics/job_table.hpp"

namespace replay::compare {

/// Of one quantity over jobs. NaN of no jobs.
struct ErrorSpread {
  double mean = 0;                            ///< with its sign: simulated less real
  double p50 = 0, p90 = 0, p95 = 0, max = 0;  ///< of its size; linear interpolation between ranks
};

/// Over the jobs that ran in both.
struct JobErrors {
  std::size_t jobs = 0;
  std::size_t one_only = 0;               ///< jobs that ran in one of the two only
  ErrorSpread wait, execution, response;  ///< seconds of trace time
  ErrorSpread
      relative_execution;  ///< (S - R) / R of the time from getting the cores to the exit of the processes; of jobs
                           ///< with such a time above 0
};

/// O(n log n).
[[nodiscard]] JobErrors job_errors(const metrics::JobTable& simulated, const metrics::JobTable& real);

}  // namespace replay::compare
