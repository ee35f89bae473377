#include "scheduler/policy/plan/shadow.hpp"

#include <algorithm>

namespace replay {

Shadow head_shadow(const ClusterView& view, CoreCount free, CoreCount head, std::span<Release> started) {
  return head_shadow(view.now, free, head, view.running.by_estimated_end(), started, [](const RunningJob* job) {
    return Release{job->estimated_end, job->allocation.cores};
  });
}

CoreCount free_beside_head(const ClusterView& view, Instant until) {
  const CoreCount free = view.free.total();
  if (view.waiting.empty()) return free;
  const CoreCount head = view.waiting.head().processes;
  if (head <= free) return free - head;
  const Shadow shadow = head_shadow(view, free, head, {});
  return shadow.at >= until ? free : std::min(free, shadow.extra);
}

}  // namespace replay
