// Planning policies: a fresh plan at every event. The waiting jobs are taken in one order, each gets the earliest hole
// that those before it leave, and the jobs planned to start now start. So a job overtakes those it does not delay in
// the plan, but the plan is no promise: the next event makes another. So only what starts now counts, and a pass ends
// as soon as no job that is left can. Its cost grows with the jobs that get a hole before that, not with the queue: most
// queues are long because of jobs that are too wide, and the first of them ends the pass.
// Sources: dynP paper, section 2 (FCFS, SJF and LJF as planning policies); by arrival it is conservative backfilling
// that replans.

#include "scheduler/policy/rigid/plan.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/ordered_queue.hpp"
#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "scheduler/policy/view/pass_parameter.hpp"

namespace replay {
namespace {

class Plan final : public Policy, public HostingByPlan {
 public:
  Plan(JobOrder order, PassRule rule) : Policy({.pass_rule = rule}), order_(order), queue_(order) {}

  void decide(const ClusterView& view, Decisions& out) override {
    static_cast<void>(running_.follow(view));
    queue_.follow(view);
    if (queue_.empty() || view.free.total() == 0) return;
    reserved_.clear();
    started_.clear();
    plan(view.now, view.free.total(), out);
    for (const auto& [job, start] : reserved_) take_back(running_.profile(), *job, start);
    for (const Job* job : started_) queue_.remove(*job);
  }

 private:
  struct Reserved {
    const Job* job;
    Instant start;
  };

  // Plans the jobs in their order for as long as one of those that are left fits now. What fits now shrinks with each
  // reservation, and so does the stretch of time, from now on, that can still matter. A job with no hole that begins in
  // it is not reserved, and no job that is at least as wide and as long is looked at.
  void plan(Instant now, CoreCount free, Decisions& out) {
    Availability& profile = running_.profile();
    Shapes fit_now, may_matter;
    fit_now.assign_fitting(profile, now);
    auto next_start = queue_.find(queue_.begin(), fit_now);
    for (auto at = queue_.begin(); next_start != queue_.end(); at = queue_.find(queue_.after(at), may_matter)) {
      const OrderedQueue::Entry& entry = queue_.at(at);
      if (at == next_start) {
        start(*entry.job, now, out);
        free -= entry.cores;
        if (free == 0) return;
        next_start = queue_.after(at);
      } else {
        const Instant end = fit_now.longest() == Duration::max() ? kNever : now + fit_now.longest();
        const Instant hole = profile.earliest_fit_before(entry.cores, entry.estimate, now, end);
        if (hole == kNever) {
          may_matter.exclude(entry.cores, entry.estimate);
          continue;
        }
        profile.reserve(hole, hole + entry.estimate, entry.cores);
        reserved_.push_back({entry.job, hole});
      }
      fit_now.assign_fitting(profile, now);
      next_start = queue_.find(next_start, fit_now);
    }
  }

  void start(const Job& job, Instant now, Decisions& out) {
    running_.profile().reserve(now, now + job.estimate, cores_needed(job));
    running_.note_start(job, now);
    started_.push_back(&job);
    out.emplace_back(Start{job.id, {cores_needed(job), 1, {}}});
  }

  Availability plan_of(const ClusterView& view, const Job* but) const override {
    return plan_in_order(view, order_, but);
  }

  JobOrder order_;
  RunningPlan running_;
  OrderedQueue queue_;
  std::vector<Reserved> reserved_;  // jobs that cannot start now: taken back at the end of the pass
  std::vector<const Job*> started_;
};

constexpr ParameterSpec kOrderedPlanParameters[] = {pass_parameter("instant")};
constexpr ParameterSpec kPlanParameters[] = {
    {"order", ParameterType::kChoice, "fcfs", "fcfs|sjf|ljf", "",
     "the order in which waiting jobs are planned: by arrival, shortest estimate first, longest first",
     "Streit, dynP paper, section 2"},
    pass_parameter("instant"),
};

std::unique_ptr<Policy> make_plan(const Parameters& parameters) {
  const auto order = parameters.choice<JobOrder>(
      "order", {{"fcfs", JobOrder::kArrival}, {"sjf", JobOrder::kShortest}, {"ljf", JobOrder::kLongest}});
  return std::make_unique<Plan>(order, pass_rule_of(parameters));
}

std::unique_ptr<Policy> make_sjf(const Parameters& parameters) {
  return std::make_unique<Plan>(JobOrder::kShortest, pass_rule_of(parameters));
}

std::unique_ptr<Policy> make_ljf(const Parameters& parameters) {
  return std::make_unique<Plan>(JobOrder::kLongest, pass_rule_of(parameters));
}

}  // namespace

constinit const PolicyEntry kPlanPolicy{"plan", "a fresh plan at every event, with implicit backfilling",
                                        "Streit, dynP paper", kPlanParameters, make_plan};
constinit const PolicyEntry kSjfPolicy{"sjf", "plan:order=sjf, shortest job first", "Streit, dynP paper",
                                       kOrderedPlanParameters, make_sjf};
constinit const PolicyEntry kLjfPolicy{"ljf", "plan:order=ljf, longest job first", "Streit, dynP paper",
                                       kOrderedPlanParameters, make_ljf};

std::unique_ptr<Policy> make_plan_by_arrival(PassRule rule) { return std::make_unique<Plan>(JobOrder::kArrival, rule); }

}  // namespace replay
