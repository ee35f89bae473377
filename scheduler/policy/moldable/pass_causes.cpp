#include "scheduler/policy/moldable/pass_causes.hpp"

#include <algorithm>

namespace replay {

bool PassCauses::call_for_pass(const ClusterView& view, std::span<const ClassedJob* const> waiting) const {
  const auto is_known = [&](const Trigger& trigger) {
    if (trigger.kind == TriggerKind::kWake) return true;
    return trigger.kind == TriggerKind::kFinish && view.now == last_pass_ &&
           std::ranges::find(gone_in_plan_, trigger.job->id) != gone_in_plan_.end();
  };
  const auto is_promoted = [&](const ClassedJob* job) {
    return job->promotion > last_pass_ && job->promotion <= view.now;
  };
  return is_put_off_ || view.triggers.empty() || timer_ <= view.now || !std::ranges::all_of(view.triggers, is_known) ||
         std::ranges::any_of(waiting, is_promoted);
}

void PassCauses::note_pass(const ClusterView& view) {
  last_pass_ = view.now;
  timer_ = kNever;
  is_put_off_ = false;
  gone_in_plan_.clear();
  if (view.running.size() == view.running.by_estimated_end().size()) return;
  for (const RunningJob* job : view.running.by_start())
    if (job->gone_in_plan) gone_in_plan_.push_back(job->job->id);
}

bool PassCauses::time_stands(const ClusterView& view) {
  if (view.free.total() > 0) return false;
  CoreCount held = 0;
  for (const RunningJob* job : view.running.by_start())
    if (!job->gone_in_plan && !job->suspended) held += job->allocation.cores;
  return held < view.machine.size();
}

}  // namespace replay
