// Planning policies: a fresh plan at every event. The waiting jobs are taken in one order, each gets the earliest hole
// that those before it leave, and the jobs planned to start now start. So a job overtakes those it does not delay in
// the plan, but the plan is no promise: the next event makes another. A pass costs O(waiting) searches in the profile
// while a core is free, and cannot cost less: a job's hole depends on all jobs before it in the order, and one event
// can move each of them.
// Sources: dynP paper, section 2 (FCFS, SJF and LJF as planning policies); by arrival it is conservative backfilling
// that replans.

#include "scheduler/policy/rigid/plan.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/view/pass_parameter.hpp"

namespace replay {
namespace {

class Plan final : public Policy {
 public:
  Plan(JobOrder order, PassRule rule) : order_(order), rule_(rule) {}

  PassRule pass_rule() const override { return rule_; }

  void decide(const ClusterView& view, Decisions& out) override {
    static_cast<void>(running_.follow(view));
    CoreCount free = view.free.total();
    if (view.waiting.empty() || free == 0) return;
    // A job that cannot start now is reserved only so that no job behind it takes its place; these reservations are
    // taken back after the loop.
    reserved_.clear();
    for (const Job* job : sorted(view)) {
      const Instant start = reserve(running_.profile(), *job, view.now);
      if (start > view.now) continue;
      reserved_.pop_back();  // a job that starts keeps its reservation
      free -= job->processes;
      out.emplace_back(Start{job->id, {job->processes, 1, {}}});
      running_.note_start(*job, view.now);
      if (free == 0) break;
    }
    for (const auto& [job, start] : reserved_) running_.profile().release(start, start + job->estimate, job->processes);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    Availability plan = availability_of_running(view);
    for (const Job* job : sorted(view)) place(plan, *job, view.now);
    return free_by_plan(view, plan, until);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    Availability plan = availability_of_running(view);
    for (const Job* other : sorted(view))
      if (other->id != job.id) place(plan, *other, view.now);
    return may_start_by_plan(view, plan, job);
  }

 private:
  struct Reserved {
    const Job* job;
    Instant start;
  };

  Instant reserve(Availability& plan, const Job& job, Instant now) {
    const Instant start = place(plan, job, now);
    reserved_.push_back({&job, start});
    return start;
  }

  [[nodiscard]] std::vector<const Job*> sorted(const ClusterView& view) const {
    std::vector<const Job*> jobs{view.waiting.begin(), view.waiting.end()};
    sort_by(order_, jobs);
    return jobs;
  }

  JobOrder order_;
  PassRule rule_;
  RunningPlan running_;
  std::vector<Reserved> reserved_;
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
