#include "scheduler/policy/view/counted_ends.hpp"

#include <algorithm>

namespace replay {

bool CountedEnds::include(const ClusterView& view, const Trigger& trigger) const {
  return trigger.kind == TriggerKind::kFinish && view.now == last_pass_ &&
         std::ranges::find(gone_in_plan_, trigger.job->id) != gone_in_plan_.end();
}

bool CountedEnds::are_all(const ClusterView& view) const {
  return !view.triggers.empty() &&
         std::ranges::all_of(view.triggers, [&](const Trigger& trigger) { return include(view, trigger); });
}

void CountedEnds::note_pass(const ClusterView& view) {
  last_pass_ = view.now;
  gone_in_plan_.clear();
  if (view.running.size() == view.running.by_estimated_end().size()) return;
  for (const RunningJob* job : view.running.by_start())
    if (job->is_gone_in_plan()) gone_in_plan_.push_back(job->job->id);
}

bool time_stands(const ClusterView& view) {
  if (view.free.total() > 0) return false;
  CoreCount held = 0;
  for (const RunningJob* job : view.running.by_start())
    if (!job->is_gone_in_plan() && !job->is_suspended()) held += view.free.cores_on_open(job->allocation);
  return held < view.free.capacity(view.now);
}

}  // namespace replay
