// Small random workloads for policies that put jobs beside each other on nodes: short, medium and long jobs, serial ones
// and sizes up to the machine, estimates exact and too long, bursts of equal jobs, slowdowns of jobs and of pairs.
#pragma once

#include <cstdint>

#include "tests/oracle/sharing/jobs.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::test {

struct SharingDraw {
  oracle::sharing::Way variant = oracle::sharing::Way::kGlts;
  bool sliced = false;
  bool exact = false;        ///< estimates
  bool speedups = false;     ///< pairs that run faster beside each other than alone
  bool parameters = false;   ///< those of Table 6 are drawn, too
  bool node_events = false;  ///< some nodes are closed for a while or for good
};

struct SharingWorkload {
  oracle::Workload workload;
  oracle::sharing::Rules rules;
};

/// One seed and draw give the same workload on every machine.
[[nodiscard]] SharingWorkload drawn_sharing(std::uint64_t seed, const SharingDraw& draw);

}  // namespace replay::test
