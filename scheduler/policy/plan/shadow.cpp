#include "scheduler/policy/plan/shadow.hpp"

namespace replay {

Shadow head_shadow(const ClusterView& view, CoreCount free, CoreCount head, std::span<Release> started) {
  if (!view.free.closed().empty()) return head_shadow(view.now, free, head, releases(view), started);
  return head_shadow(view.now, free, head, view.running.by_estimated_end(), started, [](const RunningJob* job) {
    return Release{job->estimated_end, job->allocation.cores};
  });
}

}  // namespace replay
