// Two jobs on the same cores, as fcfs-malleable considers it: which jobs may share cores, whether one does, and how much
// slower each of a pair would run. The slowdown is the runtime model's by what both jobs declare, each beside the other
// alone: isolated and utrera know formulas for it, calibrated has measured pairs of benchmarks.
// Not in the paper, in which a job shares cores only with itself; docs/policies/fcfs-malleable.md has the rules.
#pragma once

#include "scheduler/policy/view/view.hpp"

namespace replay {

/// A job and where it runs, or would.
struct PlacedJob {
  const Job& job;
  const Allocation& on;
};

/// By what it declares. Serial jobs may, although they are never shrunk.
[[nodiscard]] inline bool may_share_cores(const Job& job) { return job.flexibility == Flexibility::kMalleable; }

/// Whether another job is on one of the cores of an allocation that is taken. O(cores).
[[nodiscard]] bool is_sharing(const Allocation& taken, const FreeCores& free);

/// How many times its time alone and expanded a job takes while the other one is on some of its cores, and no third job.
/// O(cores of one * cores of the other).
[[nodiscard]] double slowdown_beside(const ClusterView& view, const PlacedJob& one, const PlacedJob& other);

}  // namespace replay
