// The states of a run, reconstructed from its event log, one per instant, after everything of that instant has
// happened: the waiting jobs, and the running jobs with their estimated ends.
#pragma once

#include <vector>

#include "tests/oracle/plan.hpp"
#include "tests/oracle/workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

struct Moment {
  struct Running {
    const oracle::Job* job;
    int cores;
    oracle::Time estimated_end;  ///< correct for a job that has its full size all the time
  };

  const oracle::Workload* workload = nullptr;
  oracle::Time now = 0;
  std::vector<const oracle::Job*> waiting;  ///< by (submit, number)
  std::vector<Running> running;
  // At exactly this instant:
  std::vector<const oracle::Job*> submitted, started;
  int ends = 0;
  int early_ends = 0;  ///< before the estimate

  [[nodiscard]] int free() const;
  /// The running jobs up to their estimated ends.
  [[nodiscard]] oracle::Plan plan() const;
};

/// The moments of a run, each after the last record of its instant.
[[nodiscard]] std::vector<Moment> moments_of(const MemoryLog& log, const oracle::Workload& workload);

}  // namespace replay::test
