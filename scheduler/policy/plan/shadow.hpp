// The shadow of the head: the first instant at which the head of the queue fits by the estimates of the running jobs,
// and the cores that are free beside it then. Sources: Lifka 1995; slack-based backfilling paper, section 3.1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "scheduler/policy/plan/releases.hpp"

namespace replay {

struct Shadow {
  Instant at;       ///< shadow time of the head; never before now
  CoreCount extra;  ///< extra nodes: free at the shadow time beside the head
};

/// `free` cores now; `running` gives what is released by its end, ascending, release_of(entry) being a Release, `started`
/// the same for jobs that are started in this pass, in any order. All ends of one instant are released together.
/// REQUIRES: the head does not fit now, and fits the machine. O(running jobs that end before the shadow + started log
/// started).
template <class Running, class ReleaseOf = std::identity>
[[nodiscard]] Shadow head_shadow(Instant now, CoreCount free, CoreCount head, const Running& running,
                                 std::span<Release> started, ReleaseOf release_of = {}) {
  std::ranges::sort(started, {}, &Release::at);
  auto next = running.begin();
  std::size_t s = 0;
  while (next != running.end() || s < started.size()) {
    const Instant at = std::min(next != running.end() ? std::invoke(release_of, *next).at : kNever,
                                s < started.size() ? started[s].at : kNever);
    for (; next != running.end() && std::invoke(release_of, *next).at == at; ++next)
      free += std::invoke(release_of, *next).cores;
    for (; s < started.size() && started[s].at == at; ++s) free += started[s].cores;
    if (free >= head) return {std::max(at, now), free - head};
  }
  return {kNever, 0};
}

/// The same with the running jobs of a view.
[[nodiscard]] Shadow head_shadow(const ClusterView& view, CoreCount free, CoreCount head, std::span<Release> started);

}  // namespace replay
