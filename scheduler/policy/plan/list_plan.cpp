#include "scheduler/policy/plan/list_plan.hpp"

#include <algorithm>

namespace replay {

void ListPlan::follow(const ClusterView& view, bool has_freed) {
  has_freed_ = has_freed_ || has_freed;
  for (const Trigger& trigger : view.triggers) {
    if (trigger.kind == TriggerKind::kSubmit) insert(*trigger.job);
    if (trigger.kind == TriggerKind::kFinish) remove(*trigger.job, kNever);
  }
  if (jobs_.size() == view.waiting.size()) return;
  jobs_.clear();
  is_made_ = false;
  for (const Job* job : view.waiting) jobs_.push_back({job, kNever});
  sort_by(order_, jobs_, &Planned::job);
}

std::span<const ListPlan::Planned> ListPlan::make(const Availability& running, Instant now) {
  constexpr Duration kTick{1};
  const auto is_to_come = [now](const Planned& planned) { return planned.start >= now; };
  if (is_made_ && !has_freed_ && std::ranges::all_of(jobs_, is_to_come)) return jobs_;
  profile_.assign(running);
  Instant freed = has_freed_ ? now : kNever;
  for (Planned& planned : jobs_) {
    const Job& job = *planned.job;
    freed = std::min(freed, planned.freed);
    // A hole before the last planned start would have to reach into the time that has become free.
    const Instant last = planned.start;
    const Instant from = last == kNever ? now : std::max(now, std::min(last, freed - job.estimate + kTick));
    planned = {&job, profile_.place(job.processes, job.estimate, from)};
    if (last != kNever && last != planned.start) freed = std::min(freed, last);
  }
  has_freed_ = false;
  is_made_ = true;
  return jobs_;
}

// The first job that does not come before `job`.
std::vector<ListPlan::Planned>::iterator ListPlan::find(const Job& job) {
  return std::ranges::partition_point(jobs_,
                                      [&](const Planned& planned) { return comes_before(order_, *planned.job, job); });
}

void ListPlan::insert(const Job& job) {
  const auto at = find(job);
  if (at != jobs_.end() && at->job->id == job.id) return;
  jobs_.insert(at, {&job, kNever});
  is_made_ = false;
}

// Its place in the plan is free unless it begins at `begins`.
void ListPlan::remove(const Job& job, Instant begins) {
  const auto at = find(job);
  if (at == jobs_.end() || at->job->id != job.id) return;
  is_made_ = is_made_ && at->start == begins;
  const Instant freed = at->start == begins ? at->freed : std::min(at->freed, at->start);
  const auto next = jobs_.erase(at);
  if (next != jobs_.end()) next->freed = std::min(next->freed, freed);
}

}  // namespace replay
