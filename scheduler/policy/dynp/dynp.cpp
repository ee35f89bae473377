// Self-tuning dynP: at every submission and every end three full plans are made of the waiting jobs, in the order of
// arrival, of the shortest and of the longest estimate; each is measured, a decider picks one, and the jobs that it
// starts now are started.
// Source: dynP paper, section 3. Nothing else is a step: at the instant of a planned start, and where an estimate has
// grown, the policy in use stays. Scores are over the waiting jobs only, with estimates: running jobs would add the
// same to all three. SLDwA is compared by the sum of width x response: its divisor, the area, is the same in all three
// (docs/policies/dynp.md).
// A step costs three times O(waiting) searches in the profile: a score needs every planned start, and one event can
// move each of them.

#include "scheduler/policy/dynp/dynp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/policy/dynp/dynp_decider.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/plan/list_plan.hpp"
#include "scheduler/policy/plan/running_plan.hpp"

namespace replay {
namespace {

enum class Metric : std::uint8_t { kSldwa, kResponse, kSlowdown, kBsld60, kUtilisation };
enum class Decider : std::uint8_t { kSimple, kAdvanced, kPreferred };

struct DynpSettings {
  Decider decider = Decider::kAdvanced;
  DynpPolicy preferred = DynpPolicy::kSjf;
  DynpThreshold threshold{};
  Metric metric = Metric::kSldwa;
  bool at_ends_too = true;
};

struct PlannedStart {
  const Job* job;
  Instant start;
};
using JobPlan = std::vector<PlannedStart>;

// The score of a plan; the order in which the plan lists its jobs does not matter. Factors that all three plans share
// are left out. The work in a plan is one of them: utilisation is inverse to the time until the last planned end.
DynpScore score(std::span<const ListPlan::Planned> plan, Metric metric, Instant now) {
  constexpr Duration kBound = std::chrono::seconds{60};
  DynpScore score;
  Duration until_last{};
  for (const auto& [job, start, freed] : plan) {
    const Duration response = start + job->estimate - job->submitted;
    const Duration bounded = std::max(job->estimate, kBound);
    switch (metric) {
      case Metric::kSldwa: score.add(Wide{job->processes} * response.count(), 1); break;
      case Metric::kResponse: score.add(response.count(), 1); break;
      case Metric::kSlowdown: score.add(response.count(), job->estimate.count()); break;
      case Metric::kBsld60: score.add(std::max(response, bounded).count(), bounded.count()); break;
      case Metric::kUtilisation: break;
    }
    until_last = std::max(until_last, start + job->estimate - now);
  }
  return metric == Metric::kUtilisation ? DynpScore{-1, until_last.count()} : score;
}

class Dynp final : public Policy {
 public:
  explicit Dynp(const DynpSettings& settings)
      : settings_(settings),
        in_use_(settings.decider == Decider::kPreferred ? settings.preferred : DynpPolicy::kFcfs) {}

  void decide(const ClusterView& view, Decisions& out) override {
    const RunningPlan::Change change = running_.follow(view);
    const bool ended = change.ended;
    for (ListPlan& plan : plans_) plan.follow(view, change.rebuilt || change.freed_until > view.now);
    if (view.waiting.empty()) return;
    const bool submitted = has_submission(view);
    if (submitted || (ended && settings_.at_ends_too))
      step(view, out);
    else if (ended || adopted_.size() != view.waiting.size())  // the second: another queue than the plan's
      adopt(plan_in_use().make(running_.profile(), view.now));
    else
      keep_plan(view.now);
    start(view.now, out);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    return free_by_plan(view, plan_of(view, nullptr), until);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    return may_start_by_plan(view, plan_of(view, &job), job);
  }

 private:
  static bool has_submission(const ClusterView& view) {
    return std::ranges::any_of(view.triggers, [](const Trigger& t) { return t.kind == TriggerKind::kSubmit; });
  }

  void step(const ClusterView& view, Decisions& out) {
    DynpScores scores{};
    std::array<std::span<const ListPlan::Planned>, kDynpPolicies> made;
    for (std::size_t i = 0; i < kDynpPolicies; ++i) {
      made[i] = plans_[i].make(running_.profile(), view.now);
      scores[i] = score(made[i], settings_.metric, view.now);
    }
    change_to(decided(scores), out);
    adopt(made[static_cast<std::size_t>(in_use_)]);
  }

  // Each change is in the event log, and so is the first choice: switches and time shares can be counted from it.
  void change_to(DynpPolicy policy, Decisions& out) {
    if (policy == in_use_ && is_noted_) return;
    in_use_ = policy;
    is_noted_ = true;
    out.emplace_back(Note{fmt::format("dynp {}", kNames[static_cast<std::size_t>(policy)])});
  }

  [[nodiscard]] DynpPolicy decided(const DynpScores& scores) const {
    switch (settings_.decider) {
      case Decider::kSimple: return decide_simple(scores);
      case Decider::kAdvanced: return decide_advanced(scores, in_use_);
      case Decider::kPreferred: return decide_preferred(scores, in_use_, settings_.preferred, settings_.threshold);
    }
    return in_use_;
  }

  void adopt(std::span<const ListPlan::Planned> plan) {
    adopted_.clear();
    for (const auto& [job, start, freed] : plan) adopted_.push_back({job, start});
  }

  // Without a submission or an end the plan in use stays. If an estimate has grown, jobs that no longer fit move to
  // their earliest hole, in the order of planned starts.
  void keep_plan(Instant now) {
    std::ranges::stable_sort(adopted_, {}, &PlannedStart::start);
    Availability& profile = running_.profile();
    for (auto& [job, start] : adopted_) {
      const Instant due = std::max(start, now);
      start = profile.fits(job->processes, due, job->estimate) ? due : now;
      start = place(profile, *job, start);
    }
    for (const auto& [job, start] : adopted_) take_back(profile, *job, start);
  }

  void start(Instant now, Decisions& out) {
    Instant next = kNever;
    for (const auto& [job, start] : adopted_) {
      if (start > now) {
        next = std::min(next, start);
        continue;
      }
      running_.profile().reserve(now, now + job->estimate, job->processes);
      running_.note_start(*job, now);
      for (ListPlan& plan : plans_) plan.note_start(*job, now);
      out.emplace_back(Start{job->id, {job->processes, 1, {}}});
    }
    std::erase_if(adopted_, [now](const PlannedStart& planned) { return planned.start <= now; });
    if (next != kNever) out.emplace_back(WakeAt{next});
  }

  Availability plan_of(const ClusterView& view, const Job* but) const {
    Availability profile = availability_of_running(view);
    JobPlan jobs;
    for (const Job* job : view.waiting)
      if (but == nullptr || job->id != but->id) jobs.push_back({job, kNever});
    sort_by(kOrders[static_cast<std::size_t>(in_use_)], jobs, &PlannedStart::job);
    for (const PlannedStart& planned : jobs) place(profile, *planned.job, view.now);
    return profile;
  }

  ListPlan& plan_in_use() { return plans_[static_cast<std::size_t>(in_use_)]; }

  // By DynpPolicy.
  static constexpr std::array<std::string_view, kDynpPolicies> kNames{"fcfs", "sjf", "ljf"};
  static constexpr std::array<JobOrder, kDynpPolicies> kOrders{JobOrder::kArrival, JobOrder::kShortest,
                                                               JobOrder::kLongest};

  DynpSettings settings_;
  DynpPolicy in_use_;
  bool is_noted_ = false;
  RunningPlan running_;
  std::array<ListPlan, kDynpPolicies> plans_{ListPlan{kOrders[0]}, ListPlan{kOrders[1]}, ListPlan{kOrders[2]}};
  JobPlan adopted_;  // the plan in use, as it was made or kept
};

constexpr ParameterSpec kDynpParameters[] = {
    {"decider", ParameterType::kChoice, "advanced", "simple|advanced|preferred", "",
     "what picks the policy: the best; the one in use if it is among the best; or the preferred one, which is left "
     "when a third is better than it by more than the threshold, and taken again as soon as it is no worse than the "
     "one in "
     "use and no third is better than it by more than the threshold",
     "Streit, dynP paper, section 3"},
    {"preferred", ParameterType::kChoice, "sjf", "fcfs|sjf|ljf", "",
     "the policy that decider=preferred prefers, and begins with", "Streit, dynP paper, section 4.3"},
    {"threshold", ParameterType::kNumber, "0", "0..1", "",
     "by what share of its own score, to nine decimals, another has to be better than the preferred policy",
     "ours; the paper has 0"},
    {"metric", ParameterType::kChoice, "sldwa", "sldwa|response|slowdown|bsld60|utilisation", "",
     "what a plan is measured by, over the waiting jobs and their estimates", "Streit, dynP paper, section 4.1"},
    {"step", ParameterType::kChoice, "all", "all|submit", "",
     "when the policy may change: at every submission and every end, or at submissions only",
     "Streit, dynP paper, section 3"},
};

std::unique_ptr<Policy> make_dynp(const Parameters& parameters) {
  DynpSettings settings;
  settings.decider = parameters.choice<Decider>(
      "decider", {{"simple", Decider::kSimple}, {"advanced", Decider::kAdvanced}, {"preferred", Decider::kPreferred}});
  settings.preferred = parameters.choice<DynpPolicy>(
      "preferred", {{"fcfs", DynpPolicy::kFcfs}, {"sjf", DynpPolicy::kSjf}, {"ljf", DynpPolicy::kLjf}});
  settings.threshold = DynpThreshold::of(parameters.number("threshold"));
  settings.metric = parameters.choice<Metric>("metric", {{"sldwa", Metric::kSldwa},
                                                         {"response", Metric::kResponse},
                                                         {"slowdown", Metric::kSlowdown},
                                                         {"bsld60", Metric::kBsld60},
                                                         {"utilisation", Metric::kUtilisation}});
  settings.at_ends_too = parameters.choice("step") == "all";
  return std::make_unique<Dynp>(settings);
}

}  // namespace

constinit const PolicyEntry kDynpPolicy{"dynp",
                                        "self-tuning: changes between fcfs, sjf and ljf by the plan that looks best",
                                        "Streit, dynP paper", kDynpParameters, make_dynp};

}  // namespace replay
