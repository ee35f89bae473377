#include "scheduler/policy/sharing/node_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace replay::sharing {
namespace {

bool starts_before(const KnownJob* a, const KnownJob* b) {
  return std::tuple{a->planned, a->arrival()} < std::tuple{b->planned, b->arrival()};
}

}  // namespace

void hold_closed(const ClusterView& view, const PlannedEnd& end_of, Releases& held) {
  for (const ClosedNode& closed : view.free.closed()) {
    const CoreRange cores = view.machine.cores_of(closed.node);
    Instant jobs_end = Instant::min();
    for (const RunningJob* job : view.running.by_start())
      if (!job->is_gone_in_plan() && std::ranges::any_of(job->allocation.named, [cores](const CoreLoad& load) {
            return cores.contains(load.core);
          }))
        jobs_end = std::max(jobs_end, end_of(*job));
    const Instant up_again = closed.up_again(view.now);
    if (up_again <= jobs_end) continue;
    held.push_back({up_again, 1});
    if (jobs_end != Instant::min()) held.push_back({jobs_end, -1});
  }
}

void hold(Availability& profile, Instant now, const Releases& held) {
  for (const Release& release : held) profile.reserve(now, release.until, release.nodes);
}

void NodePlan::follow(Instant now, const Releases& held, bool has_left) {
  now_ = now;
  std::erase_if(held_, [now](const Release& release) { return release.until <= now; });
  const bool has_passed = !order_.empty() && order_.front()->planned < now;
  if (held_ != held || has_passed || has_left) {
    held_ = held;
    compress();
  } else if (all_.begins() <= now) {
    all_.forget_before(now);
  }
}

void NodePlan::insert(KnownJob& job) {
  job.planned = all_.place(job.nodes, job.length, now_);
  order_.insert(std::ranges::upper_bound(order_, &job, starts_before), &job);
}

void NodePlan::remove(KnownJob& job) { std::erase(order_, &job); }

void NodePlan::compress() {
  build(all_, now_, held_);
  for (KnownJob* const job : order_) job->planned = all_.place(job->nodes, job->length, now_);
  sort_by_start();
}

void NodePlan::start(KnownJob& job) {
  held_.push_back({job.ends_at(), job.nodes});
  put_in_order(held_);
  remove(job);
  job.planned = kNever;
}

void NodePlan::start_differently(KnownJob& job, Release held) {
  held_.push_back(held);
  put_in_order(held_);
  remove(job);
  job.planned = kNever;
  compress();
}

std::optional<NodePlan::Delayed> NodePlan::try_with(const Releases& held, std::uint64_t leaving) {
  trial_held_ = held;
  trial_order_.clear();
  trial_starts_.clear();
  build(trial_, now_, held);
  for (KnownJob* const job : order_) {
    if (job->mark == leaving) continue;
    const Instant start = trial_.place(job->nodes, job->length, now_);
    const Instant end = start + job->length;
    if (end > job->latest && end > job->ends_at()) return Delayed{job, end};
    trial_order_.push_back(job);
    trial_starts_.push_back(start);
  }
  return std::nullopt;
}

void NodePlan::adopt_trial() {
  for (KnownJob* const job : order_) job->planned = kNever;
  for (std::size_t i = 0; i < trial_order_.size(); ++i) trial_order_[i]->planned = trial_starts_[i];
  order_.swap(trial_order_);
  held_.swap(trial_held_);
  std::swap(all_, trial_);
  sort_by_start();
}

void NodePlan::build(Availability& profile, Instant now, const Releases& held) {
  profile.clear(now);
  hold(profile, now, held);
}

void NodePlan::sort_by_start() { std::ranges::sort(order_, starts_before); }

}  // namespace replay::sharing
