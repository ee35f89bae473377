// Self-tuning dynP: at every submission and every end three full plans are made of the waiting jobs, in the order of
// arrival, of the shortest and of the longest estimate; each is measured, a decider picks one, and the jobs that it
// starts now are started.
// Source: dynP paper, section 3. Nothing else is a step: at the instant of a planned start, and where an estimate has
// grown, the policy in use stays. Scores are over the waiting jobs only, with estimates: running jobs would add the
// same to all three. SLDwA is compared by the sum of width x response: its divisor, the area, is the same in all three
// (docs/policies/dynp.md).
// Where scores are sums of weight x start, a step makes the plan in use, and of the two others only as much as proves
// them worse: a policy in use that is better than the others stays under every decider. Long queues are nearly always
// of that kind. A step costs up to three times O(waiting) searches in the profile: a score needs every planned start,
// and one event can move each of them.

#include "scheduler/policy/dynp/dynp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/policy/dynp/dynp_decider.hpp"
#include "scheduler/policy/plan/hosting.hpp"
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

// Of a job's start in the score, for the metrics of which the score is such a sum, but for what all plans share.
ListPlan::Weight weight_of(Metric metric) {
  if (metric == Metric::kSldwa) return [](const Job& job) { return cores_needed(job); };
  return [](const Job&) { return CoreCount{1}; };
}
bool is_sum_of_starts(Metric metric) { return metric == Metric::kSldwa || metric == Metric::kResponse; }

// The score of a plan; the order in which the plan lists its jobs does not matter. Factors that all three plans share
// are left out. The work in a plan is one of them: utilisation is inverse to the time until the last planned end.
DynpScore score(std::span<const ListPlan::Planned> plan, Metric metric, Instant now) {
  constexpr Duration kBound = std::chrono::seconds{60};
  DynpScore score;
  Duration until_last{};
  for (const ListPlan::Planned& planned : plan) {
    const Job* const job = planned.job;
    const Instant start = planned.start;
    const Duration response = start + job->estimate - job->submitted;
    const Duration bounded = std::max(job->estimate, kBound);
    switch (metric) {
      case Metric::kSldwa: score.add(Wide{cores_needed(*job)} * response.count(), 1); break;
      case Metric::kResponse: score.add(response.count(), 1); break;
      case Metric::kSlowdown: score.add(response.count(), job->estimate.count()); break;
      case Metric::kBsld60: score.add(std::max(response, bounded).count(), bounded.count()); break;
      case Metric::kUtilisation: break;
    }
    until_last = std::max(until_last, start + job->estimate - now);
  }
  return metric == Metric::kUtilisation ? DynpScore{-1, until_last.count()} : score;
}

class Dynp final : public Policy, public HostingByPlan {
 public:
  explicit Dynp(const DynpSettings& settings)
      : settings_(settings),
        in_use_(settings.decider == Decider::kPreferred ? settings.preferred : DynpPolicy::kFcfs),
        plans_{ListPlan{kOrders[0], weight_of(settings.metric)}, ListPlan{kOrders[1], weight_of(settings.metric)},
               ListPlan{kOrders[2], weight_of(settings.metric)}} {}

  void decide(const ClusterView& view, Decisions& out) override {
    const RunningPlan::Change change = running_.follow(view);
    const bool ended = change.ended;
    for (ListPlan& plan : plans_) plan.follow(view, change.rebuilt || change.freed_until > view.now);
    if (view.waiting.empty()) {
      is_kept_ = false;
      return;
    }
    const bool submitted = has_submission(view);
    if (submitted || (ended && settings_.at_ends_too))
      step(view.now, out);
    else if (ended || !is_plan_of(view.waiting.size()))
      make_plan_in_use(view.now);
    else if (is_kept_ || !plan_in_use().is_made())
      keep_plan(view.now);
    start(view.now, out);
  }

 private:
  static bool has_submission(const ClusterView& view) {
    return std::ranges::any_of(view.triggers, [](const Trigger& t) { return t.kind == TriggerKind::kSubmit; });
  }

  void step(Instant now, Decisions& out) {
    make_plan_in_use(now);
    if (is_in_use_best(now)) return change_to(in_use_, out);
    DynpScores scores{};
    for (std::size_t i = 0; i < kDynpPolicies; ++i)
      scores[i] = score(plans_[i].make(running_.profile(), now), settings_.metric, now);
    change_to(decided(scores), out);
  }

  // Whether both other plans are surely worse than the one in use, which stays then under every decider.
  bool is_in_use_best(Instant now) {
    if (!is_sum_of_starts(settings_.metric)) return false;
    const ListPlan::Cost cost = plan_in_use().cost();
    return std::ranges::all_of(
        plans_, [&](ListPlan& plan) { return &plan == &plan_in_use() || plan.exceeds(cost, running_.profile(), now); });
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

  void make_plan_in_use(Instant now) {
    plan_in_use().make(running_.profile(), now);
    is_kept_ = false;
  }

  // Whether the plan in force has starts for so many jobs.
  bool is_plan_of(std::size_t jobs) {
    if (is_kept_) return kept_.size() == jobs;
    return std::ranges::none_of(plan_in_use().jobs(),
                                [](const ListPlan::Planned& planned) { return planned.start == kNever; });
  }

  // Without a submission or an end the plan in use stays. If an estimate has grown, jobs that no longer fit move to
  // their earliest hole, in the order of planned starts.
  void keep_plan(Instant now) {
    if (!is_kept_) {
      kept_.clear();
      for (const ListPlan::Planned& planned : plan_in_use().jobs()) kept_.push_back({planned.job, planned.start});
      is_kept_ = true;
    }
    std::ranges::stable_sort(kept_, {}, &PlannedStart::start);
    Availability& profile = running_.profile();
    for (auto& [job, start] : kept_) {
      const Instant due = std::max(start, now);
      start = profile.fits(cores_needed(*job), due, job->estimate) ? due : now;
      start = place(profile, *job, start);
    }
    for (const auto& [job, start] : kept_) take_back(profile, *job, start);
  }

  void start(Instant now, Decisions& out) {
    Instant next = kNever;
    due_.clear();
    const auto look_at = [&](const auto& planned) {
      if (planned.start > now)
        next = std::min(next, planned.start);
      else
        due_.push_back(planned.job);
    };
    if (is_kept_)
      std::ranges::for_each(kept_, look_at);
    else
      std::ranges::for_each(plan_in_use().jobs(), look_at);
    for (const Job* job : due_) {
      running_.profile().reserve(now, now + job->estimate, cores_needed(*job));
      running_.note_start(*job, now);
      for (ListPlan& plan : plans_) plan.note_start(*job, now);
      out.emplace_back(Start{job->id, {cores_needed(*job), 1, {}}});
    }
    if (is_kept_) std::erase_if(kept_, [now](const PlannedStart& planned) { return planned.start <= now; });
    if (next != kNever) out.emplace_back(WakeAt{next});
  }

  Availability plan_of(const ClusterView& view, const Job* but) const override {
    return plan_in_order(view, kOrders[static_cast<std::size_t>(in_use_)], but);
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
  std::array<ListPlan, kDynpPolicies> plans_;
  bool is_kept_ = false;  // in force is kept_, and not the plan of the policy in use
  JobPlan kept_;          // the plan in use, after an estimate has grown
  std::vector<const Job*> due_;
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
