// The shadow of the head: the first instant at which the head of the queue fits by the estimates of the running jobs,
// and the cores that are free beside it then. Sources: Lifka 1995; slack-based backfilling paper, section 3.1.
#pragma once

#include <span>

#include "scheduler/policy/view/view.hpp"

namespace replay {

/// Cores that come free at an instant.
struct Release {
  Instant at;
  CoreCount cores;
};

struct Shadow {
  Instant at;       ///< shadow time of the head; never before now
  CoreCount extra;  ///< extra nodes: free at the shadow time beside the head
};

/// `free` cores now; `view.running` gives the ends, `started` the ends of jobs that are started in this pass, in any
/// order. All ends of one instant are released together. REQUIRES: the head does not fit now, and fits the machine.
/// O(running jobs that end before the shadow + started log started).
[[nodiscard]] Shadow head_shadow(const ClusterView& view, CoreCount free, CoreCount head, std::span<Release> started);

/// Policy::free_until() of policies that reserve for the head only: the cores free now that the head does not need
/// before `until`.
[[nodiscard]] CoreCount free_beside_head(const ClusterView& view, Instant until);

}  // namespace replay
