#include "scheduler/policy/plan/hosting.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/plan/shadow.hpp"

namespace replay {

CoreCount HostingByPlan::free_until(const ClusterView& view, Instant until) const {
  return free_by_plan(view, plan_of(view, nullptr), until);
}

bool HostingByPlan::may_start_now(const ClusterView& view, const Job& job) const {
  return cores_needed(job) <= view.free.total() && plan_of(view, &job).fits(cores_needed(job), view.now, job.estimate);
}

CoreCount HostingBesideHead::free_until(const ClusterView& view, Instant until) const {
  const CoreCount free = view.free.total();
  if (view.waiting.empty()) return free;
  const CoreCount head = shape_of(head_of(view)).cores;
  if (head <= free) return free - head;
  const Shadow shadow = head_shadow(view, free, head, {});
  return shadow.at >= until ? free : std::min(free, shadow.extra);
}

bool HostingBesideHead::may_start_now(const ClusterView& view, const Job& job) const {
  const CoreCount free = view.free.total();
  const Shape shape = shape_of(job);
  if (view.waiting.empty() || shape.cores > free) return false;
  const Job& first = head_of(view);
  if (first.id == job.id) return true;
  const CoreCount head = shape_of(first).cores;
  if (head <= free) return head + shape.cores <= free;
  const Shadow shadow = head_shadow(view, free, head, {});
  return view.now + shape.time <= shadow.at || shape.cores <= shadow.extra;
}

Availability plan_in_order(const ClusterView& view, JobOrder order, const Job* but) {
  std::vector<const Job*> jobs{view.waiting.begin(), view.waiting.end()};
  if (but != nullptr) std::erase_if(jobs, [but](const Job* job) { return job->id == but->id; });
  sort_by(order, jobs);
  Availability plan = availability_of_running(view);
  for (const Job* job : jobs) place(plan, *job, view.now);
  return plan;
}

CoreCount free_by_plan(const ClusterView& view, const Availability& plan, Instant until) {
  const CoreCount free = view.free.total();
  return until <= view.now ? free : std::min(free, plan.least_free(view.now, until));
}

}  // namespace replay
