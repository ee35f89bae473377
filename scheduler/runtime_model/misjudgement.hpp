// How far the truth about a job may be from what it declares, for studies of how much a policy relies on declarations.
// With an error of e each job gets a power p, drawn log-uniformly from 1 / (1 + e) to 1 + e by a hash of (seed, job), the
// same under every policy: where it declares to be x times as fast or as slow it is x^p times. A job that declares
// nothing is not changed.
#pragma once

#include <cstdint>

#include "scheduler/model/workload.hpp"

namespace replay {

struct Misjudgement {
  double curve_error = 0;     ///< of speedups; >= 0
  double slowdown_error = 0;  ///< of slowdowns beside others and by how a job's own processes lie; >= 0

  friend bool operator==(const Misjudgement&, const Misjudgement&) = default;
};

/// Sets JobTruth::speedup_power and slowdown_power of each job with a Declaration.
void misjudge(Workload& workload, const Misjudgement& errors, std::uint64_t seed);

}  // namespace replay
