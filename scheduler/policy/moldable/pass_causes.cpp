#include "scheduler/policy/moldable/pass_causes.hpp"

#include <algorithm>

namespace replay {
namespace {

CoreCount cores_of_guests(const ClusterView& view) {
  CoreCount cores = 0;
  for (const RunningJob* job : view.running.by_start())
    if (job->is_guest()) cores += job->allocation.cores;
  return cores;
}

}  // namespace

bool PassCauses::call_for_pass(const ClusterView& view, std::span<const ClassedJob* const> waiting) const {
  const auto is_known = [&](const Trigger& trigger) {
    return trigger.kind == TriggerKind::kWake || counted_.include(view, trigger);
  };
  const auto is_promoted = [&](const ClassedJob* job) {
    return job->promotion > counted_.last_pass() && job->promotion <= view.now;
  };
  return is_put_off_ || view.triggers.empty() || timer_ <= view.now || !std::ranges::all_of(view.triggers, is_known) ||
         std::ranges::any_of(waiting, is_promoted) || (guests_ > 0 && cores_of_guests(view) < guests_);
}

void PassCauses::note_pass(const ClusterView& view) {
  counted_.note_pass(view);
  guests_ = cores_of_guests(view);
  timer_ = kNever;
  is_put_off_ = false;
}

}  // namespace replay
