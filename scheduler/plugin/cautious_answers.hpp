// The answers to a wrapping policy where a user-written policy gives none: they promise only what follows from the
// view.
#pragma once

#include "scheduler/policy/view/policy.hpp"

namespace replay::plugin {

/// Policy::free_until(): all free cores while no job waits, else none.
[[nodiscard]] inline CoreCount cautious_free_until(const ClusterView& view) {
  return view.waiting.empty() ? view.free.total() : 0;
}

/// Policy::may_start_now(): only the one job that waits, if it fits as it is.
[[nodiscard]] inline bool cautious_may_start_now(const ClusterView& view, const Job& job) {
  return view.waiting.size() == 1 && view.waiting.head().id == job.id && view.free.place(job.processes, 1).has_value();
}

}  // namespace replay::plugin
