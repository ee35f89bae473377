#include "scheduler/policy/plan/running_plan.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/policy/plan/releases.hpp"

namespace replay {
namespace {

constexpr Duration kTick{1};

// Until when a running job holds its cores in plan. A job that is suspended or gone in plan holds nothing. One that is late is
// taken to need as long again: with a tick only, the policy would plan a start at each tick until it ends.
Instant held_until(const RunningJob& running, Instant now) {
  if (running.is_suspended() || running.is_gone_in_plan()) return now;
  return std::max(running.estimated_end, now + std::max(now - running.estimated_end, kTick));
}

// Calls hold(from, cores) for what `running` has on closed nodes, from when these are up again, and returns the rest.
template <class Hold>
CoreCount split_by_nodes(const RunningJob& running, const ClusterView& view, Hold hold) {
  return view.free.split_off_closed(running.allocation, [&](NodeId node, CoreCount cores) {
    hold(std::ranges::find(view.free.closed(), node, &ClosedNode::node)->up_again(view.now), cores);
  });
}

}  // namespace

Availability availability_of_running(const ClusterView& view) {
  Availability profile{view.machine.size(), view.now};
  for (const ClosedNode& closed : view.free.closed())
    profile.reserve(view.now, closed.up_again(view.now), view.machine.cores_of(closed.node).size());
  for (const RunningJob* running : view.running.by_estimated_end()) {
    const Instant until = held_until(*running, view.now);
    const CoreCount open =
        split_by_nodes(*running, view, [&](Instant up, CoreCount cores) { profile.reserve(up, until, cores); });
    profile.reserve(view.now, until, open);
  }
  return profile;
}

RunningPlan::Change RunningPlan::follow(const ClusterView& view, AtEstimate at_estimate) {
  Change change;
  for (const Trigger& trigger : view.triggers) {
    switch (trigger.kind) {
      case TriggerKind::kFinish: note_finish(*trigger.job, view.now, change); break;
      case TriggerKind::kEstimateReached:
      case TriggerKind::kChange: note_kill(*trigger.job, view, change); break;
      case TriggerKind::kSubmit:
      case TriggerKind::kWake:
      case TriggerKind::kNodes: break;
    }
  }
  const Instant in_time = at_estimate == AtEstimate::kRuns ? view.now + kTick : view.now;
  const auto ends = view.running.by_estimated_end();
  const bool a_job_is_late = !ends.empty() && ends.front()->estimated_end < in_time;
  change.rebuilt = profile_.capacity() != view.machine.size() || view.now < profile_.begins() || a_job_is_late ||
                   held_.size() != view.running.size() || disturbances_seen_ != view.running.disturbances() ||
                   !std::ranges::equal(closed_seen_, view.free.closed());
  if (change.rebuilt)
    rebuild(view);
  else
    profile_.forget_before(view.now);
  return change;
}

void RunningPlan::note_finish(const Job& job, Instant now, Change& change) {
  Held* const held = held_.find(job.id);
  change.ended = change.ended || held == nullptr || !held->is_killed;
  if (held == nullptr) return;  // it never started
  free_from(now, job.id, *held, change);
  held_.erase(job.id);
  on_closed_.erase(job.id);
}

// A job that is not gone in plan was not killed: its estimate has grown. One that is killed before its estimate, as its
// user has taken it back, leaves the plan as at an early end; the controller counts a disturbance then.
void RunningPlan::note_kill(const Job& job, const ClusterView& view, Change& change) {
  Held* const held = held_.find(job.id);
  const auto is_it = [&job](const RunningJob* running) { return running->job == &job; };
  const auto running = std::ranges::find_if(view.running.by_start(), is_it);
  if (held == nullptr || held->is_killed || running == view.running.by_start().end() || !(*running)->is_gone_in_plan())
    return;
  if ((*running)->estimated_end > view.now) ++disturbances_seen_;
  free_from(view.now, job.id, *held, change);
  held->is_killed = true;
  change.ended = true;
}

void RunningPlan::free_from(Instant now, JobId job, Held& held, Change& change) {
  take_out(now, job, held);
  change.freed_until = std::max(change.freed_until, held.until);
  held.until = std::min(held.until, now);
}

void RunningPlan::take_out(Instant now, JobId job, const Held& held) {
  profile_.release(now, held.until, held.cores);
  if (const auto later = on_closed_.find(job); later != on_closed_.end())
    for (const auto& [up, cores] : later->second) profile_.release(std::max(now, up), held.until, cores);
}

void RunningPlan::note_start(const Job& job, Instant now, CoreCount cores, Duration estimate) {
  Held* held = held_.find(job.id);
  if (held == nullptr) held = &held_.add(job.id);
  *held = {now + estimate, cores};
}

bool RunningPlan::lift_out(const RunningJob& job, Instant now) {
  Held& held = held_.at(job.job->id);
  if (held.until <= now) return false;
  take_out(now, job.job->id, held);
  held.until = now;
  return true;
}

void RunningPlan::put_back_for_longer(const RunningJob& job, Instant now, Duration more) {
  Held& held = held_.at(job.job->id);
  held.until = std::max(job.estimated_end + more, now + kTick);
  profile_.reserve(now, held.until, held.cores);
  if (const auto later = on_closed_.find(job.job->id); later != on_closed_.end())
    for (const auto& [up, cores] : later->second) profile_.reserve(std::max(now, up), held.until, cores);
  ++disturbances_seen_;  // the controller counts its change of the end, too
}

void RunningPlan::rebuild(const ClusterView& view) {
  profile_ = availability_of_running(view);
  const JobMap<Held> before = std::exchange(held_, {});
  on_closed_.clear();
  for (const RunningJob* running : view.running.by_start()) {
    const Held* const known = before.find(running->job->id);
    std::vector<Release> later;
    const CoreCount open = split_by_nodes(*running, view, [&later](Instant up, CoreCount cores) {
      later.push_back({up, cores});
    });
    held_.add(running->job->id) = {held_until(*running, view.now), open, known != nullptr && known->is_killed};
    if (open != running->allocation.cores) on_closed_[running->job->id] = std::move(later);
  }
  closed_seen_.assign(view.free.closed().begin(), view.free.closed().end());
  disturbances_seen_ = view.running.disturbances();
}

Instant place(Availability& plan, const Job& job, Instant from) {
  return plan.place(cores_needed(job), job.estimate, from);
}

void take_back(Availability& plan, const Job& job, Instant start) {
  plan.release(start, start + job.estimate, cores_needed(job));
}

}  // namespace replay
