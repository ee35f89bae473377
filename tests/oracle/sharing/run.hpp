// The oracle of g-lomarc-ts, and of scojo-pect above it: readings 6 and 9, which stand above the paper.
#pragma once

#include <vector>

#include "tests/oracle/sharing/jobs.hpp"
#include "tests/oracle/sharing/virtual_machine.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle::sharing {

struct JobRun {
  Time start = kNever;
  Time end = kNever;
  int ppn = 0;
  std::vector<int> nodes;        ///< ascending
  double response_estimate = 0;  ///< R_est
  // In the clock of its virtual machine:
  Time response = 0;
  Time planned_response = 0;  ///< at submission
  int suspensions = 0;
};

struct Result {
  std::vector<JobRun> jobs;  ///< in the order of Workload::jobs
  std::vector<FormedGroup> groups;
};

/// REQUIRES: nodes of two packages with two cores each or more; Overrun::kKill.
[[nodiscard]] Result run(const Workload& workload, const Rules& rules);

}  // namespace replay::oracle::sharing
