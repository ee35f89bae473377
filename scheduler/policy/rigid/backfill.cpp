// Backfilling. The first waiting jobs hold a reservation: they start no later than it says. A later job may start now
// if it delays none of them. One reservation is EASY, which needs no plan: the later job ends by the head's shadow
// time, or it fits into the extra nodes. One for every job replans the whole queue at each event.
// Sources: Lifka 1995; Mu'alem and Feitelson 2001; the two criteria as in the slack-based backfilling paper, section
// 3.1; shortest first: Tsafrir, Etsion and Feitelson 2007. With pass=event EASY is, event for event, the scheduler that
// made the reference waits of four archive logs.

#include "scheduler/policy/rigid/backfill.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/plan/shadow.hpp"
#include "scheduler/policy/view/pass_parameter.hpp"

namespace replay {
namespace {

// A submission causes a pass only if the submitted job fits (reference schedules, rule 2).
bool arrival_cannot_start(const ClusterView& view) {
  return view.triggers.size() == 1 && view.triggers[0].kind == TriggerKind::kSubmit &&
         cores_needed(*view.triggers[0].job) > view.free.total();
}

class Easy final : public Policy, public HostingBesideHead {
 public:
  Easy(PassRule rule, JobOrder order) : Policy({.pass_rule = rule}), order_(order) {}

  void decide(const ClusterView& view, Decisions& out) override {
    if (view.waiting.empty()) return;
    CoreCount free = view.free.total();
    if (traits().pass_rule == PassRule::kEvent && arrival_cannot_start(view)) return;

    started_.clear();
    auto waiting = view.waiting.begin();
    const auto end = view.waiting.end();
    for (; waiting != end && cores_needed(**waiting) <= free; ++waiting) start(**waiting, view.now, free, out);
    if (waiting == end || free == 0) return;

    Shadow shadow = head_shadow(view, free, cores_needed(**waiting), started_);
    const auto wanted = [&] { return Wanted{free, shadow.at - view.now, shadow.extra}; };
    if (order_ == JobOrder::kArrival) {
      while (free > 0 && (waiting = view.waiting.find(++waiting, wanted())) != end)
        backfill(**waiting, view.now, shadow, free, out);
      return;
    }
    candidates_.clear();  // a job left out here cannot start later in the pass either: free and extra only shrink
    while ((waiting = view.waiting.find(++waiting, wanted())) != end) candidates_.push_back(*waiting);
    sort_by(order_, candidates_);
    for (const Job* job : candidates_) backfill(*job, view.now, shadow, free, out);
  }

 private:
  void backfill(const Job& job, Instant now, Shadow& shadow, CoreCount& free, Decisions& out) {
    if (cores_needed(job) > free) return;
    const bool ends_in_time = now + job.estimate <= shadow.at;
    if (!ends_in_time && cores_needed(job) > shadow.extra) return;
    if (!ends_in_time) shadow.extra -= cores_needed(job);
    start(job, now, free, out);
  }

  void start(const Job& job, Instant now, CoreCount& free, Decisions& out) {
    free -= cores_needed(job);
    started_.push_back({now + job.estimate, cores_needed(job)});
    out.emplace_back(Start{job.id, {cores_needed(job), 1, {}}});
  }

  JobOrder order_;
  std::vector<Release> started_;  // ends of the jobs started in this pass
  std::vector<const Job*> candidates_;
};

// Several reservations: the profile shows whether a job would delay one.
class ReservingBackfill final : public Policy, public HostingByPlan {
 public:
  ReservingBackfill(PassRule rule, JobOrder order, std::int64_t reservations)
      : Policy({.pass_rule = rule}), order_(order), reservations_(reservations) {}

  void decide(const ClusterView& view, Decisions& out) override {
    static_cast<void>(running_.follow(view));
    if (view.waiting.empty() || view.free.total() == 0) return;
    if (traits().pass_rule == PassRule::kEvent && arrival_cannot_start(view)) return;
    Availability& plan = running_.profile();
    reserved_.clear();
    auto waiting = view.waiting.begin();
    for (; waiting != view.waiting.end() && std::cmp_less(reserved_.size(), reservations_); ++waiting)
      if (!start_if_it_fits(plan, **waiting, view.now, out)) reserve(plan, **waiting, view.now);
    candidates_.clear();
    const Wanted narrow_enough{view.free.total(), Duration::max()};
    while ((waiting = view.waiting.find(waiting, narrow_enough)) != view.waiting.end())
      candidates_.push_back(*waiting++);
    sort_by(order_, candidates_);
    for (const Job* job : candidates_) start_if_it_fits(plan, *job, view.now, out);
    for (const Reserved& kept : reserved_) take_back(plan, *kept.job, kept.start);
  }

 private:
  struct Reserved {
    const Job* job;
    Instant start;
  };

  bool start_if_it_fits(Availability& plan, const Job& job, Instant now, Decisions& out) {
    if (!plan.fits(cores_needed(job), now, job.estimate)) return false;
    plan.reserve(now, now + job.estimate, cores_needed(job));
    running_.note_start(job, now);
    out.emplace_back(Start{job.id, {cores_needed(job), 1, {}}});
    return true;
  }

  void reserve(Availability& plan, const Job& job, Instant now) { reserved_.push_back({&job, place(plan, job, now)}); }

  // The profile of running jobs, of those that could start now and of the reservations, without `but`.
  Availability plan_of(const ClusterView& view, const Job* but) const override {
    Availability plan = availability_of_running(view);
    std::int64_t left = reservations_;
    for (const Job* job : view.waiting) {
      if (left == 0) break;
      if (but != nullptr && job->id == but->id) continue;
      const Instant start = place(plan, *job, view.now);
      if (start > view.now) --left;
    }
    return plan;
  }

  JobOrder order_;
  std::int64_t reservations_;
  RunningPlan running_;
  std::vector<Reserved> reserved_;
  std::vector<const Job*> candidates_;
};

constexpr ParameterSpec kEasyParameters[] = {
    {"reservations", ParameterType::kInteger, "1", "1..1000000|all", "jobs",
     "how many of the first waiting jobs must not be delayed; 1 is EASY, all replans the whole queue at each event",
     "Mu'alem and Feitelson 2001"},
    {"backfill", ParameterType::kChoice, "arrival", "arrival|shortest|narrowest", "",
     "which of the later jobs is asked first: by arrival, by estimate, or by processes",
     "shortest: Tsafrir, Etsion and Feitelson 2007"},
    pass_parameter("event", "reference schedules of the archive logs; docs/adr/0006-pass-rules.md"),
};

std::unique_ptr<Policy> make_easy(const Parameters& parameters) {
  const auto order = parameters.choice<JobOrder>(
      "backfill",
      {{"arrival", JobOrder::kArrival}, {"shortest", JobOrder::kShortest}, {"narrowest", JobOrder::kNarrowest}});
  const std::int64_t reservations = parameters.integer("reservations");
  if (reservations == 1) return std::make_unique<Easy>(pass_rule_of(parameters), order);
  return std::make_unique<ReservingBackfill>(pass_rule_of(parameters), order, reservations);
}

}  // namespace

constinit const PolicyEntry kEasyPolicy{"easy", "backfilling that never delays the head of the queue",
                                        "Lifka 1995; Mu'alem and Feitelson 2001", kEasyParameters, make_easy};

std::unique_ptr<Policy> make_reserving_backfill(PassRule rule, std::int64_t reservations) {
  return std::make_unique<ReservingBackfill>(rule, JobOrder::kArrival, reservations);
}

}  // namespace replay
