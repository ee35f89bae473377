#include "scheduler/policy/plan/shadow.hpp"

#include <algorithm>

namespace replay {

Shadow head_shadow(const ClusterView& view, CoreCount free, CoreCount head, std::span<Release> started) {
  std::ranges::sort(started, {}, &Release::at);
  const auto running = view.running.by_estimated_end();
  std::size_t r = 0;
  std::size_t s = 0;
  while (r < running.size() || s < started.size()) {
    const Instant next =
        std::min(r < running.size() ? running[r]->estimated_end : kNever, s < started.size() ? started[s].at : kNever);
    for (; r < running.size() && running[r]->estimated_end == next; ++r) free += running[r]->allocation.cores;
    for (; s < started.size() && started[s].at == next; ++s) free += started[s].cores;
    if (free >= head) return {std::max(next, view.now), free - head};
  }
  return {kNever, 0};
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
