// What comes free by plan, and when: the cores of running jobs at their estimated ends, closed nodes when they are up again,
// and what a job has on a closed node at the later of both (docs/formats/nodes-csv.md).
#pragma once

#include <span>
#include <vector>

#include "scheduler/policy/view/view.hpp"

namespace replay {

/// Cores that come free at an instant.
struct Release {
  Instant at;
  CoreCount cores;
  bool operator==(const Release&) const = default;
};

/// What a job has, until it ends.
struct HeldUntil {
  const Allocation* on;
  Instant until;
};

/// Of the machine with such jobs on it, and no others. Ascending; without what is not known to come free.
[[nodiscard]] std::vector<Release> releases_of(const ClusterView& view, std::span<const HeldUntil> held);
/// Of the running jobs of the view but those that are suspended or gone in plan.
[[nodiscard]] std::vector<Release> releases(const ClusterView& view);

}  // namespace replay
