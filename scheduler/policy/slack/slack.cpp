// Slack-based priority backfilling. Every waiting job has a planned start and some slack, by which it may be delayed. A
// new job goes where the schedule is cheapest, among those that delay no job beyond its slack (slack_search.hpp). So a
// job starts no later than first planned plus its first slack. When a job ends early or is taken back, the waiting ones
// move up in the cheapest way.
// Order at one instant: ends, submissions one after the other, each followed by the starts that are due, estimates
// reached (tick), planned starts. What the controller decides about estimates, a kill or an extension, comes with the ends.
// Source: Talby and Feitelson 1999, sections 4.2 (insert, remove), 4.3, 4.4 (slack_price.hpp), 4.5 and 4.6
// (slack_search.hpp), 4.7 (tick). With sf=0 the schedule is that of conservative:compress=start-order.
// docs/policies/slack.md

#include "scheduler/policy/slack/slack.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/policy/plan/hosting.hpp"
#include "scheduler/policy/plan/running_plan.hpp"
#include "scheduler/policy/slack/average_wait.hpp"
#include "scheduler/policy/slack/slack_search.hpp"

namespace replay {
namespace {

struct SlackSettings {
  double slack_factor;
  SlackHeuristic heuristic;
  SlackWeights weights;
};

using Waiting = SlackWaiting;

class Slack final : public Policy, public HostingByPlan {
 public:
  Slack(const SlackSettings& settings, AverageWait average_wait)
      : settings_(settings),
        search_(settings.heuristic, settings.weights, settings.slack_factor == 0),
        average_wait_(std::move(average_wait)) {}

  void decide(const ClusterView& view, Decisions& out) override {
    if (taken_in_ == view.now)
      free_ = view.free.total() - cores_of(begun_);  // the tick has killed some
    else
      take_in(view, RunningPlan::AtEstimate::kRuns);
    taken_in_.reset();
    if (std::exchange(tick_has_freed_, false)) remove();
    start_due_jobs();
    std::ranges::move(begun_, std::back_inserter(out));
    begun_.clear();
    const auto next = std::ranges::find_if(waiting_, [&](const Waiting& waiting) { return waiting.start > now_; });
    if (next != waiting_.end()) out.emplace_back(WakeAt{next->start});
  }

  // Section 4.7: grants a tenth of its declared time more, if that costs less than losing the work it has done. Other
  // jobs may be delayed for it within their slack; its own extension cannot be delayed. The ends and submissions of
  // this instant come first.
  Duration more_time(const ClusterView& view, const RunningJob& running) override {
    if (taken_in_ != view.now) take_in(view, RunningPlan::AtEstimate::kHasEnded);
    taken_in_ = view.now;
    if (!running_.knows(running)) return Duration::zero();
    tick_has_freed_ = running_.lift_out(running, now_) || tick_has_freed_;
    if (running.budget.rate() != 1) return Duration::zero();
    Job rest = *running.job;
    rest.estimate = std::max(running.job->estimate / 10, kLeastExtension);
    sort_by_start();
    const SlackCandidate goes_on = search_.insert_now(profile(), waiting_, now_, rest, first_slack(rest, kUndecided));
    if (goes_on.price >= price_of_waiting(cores_needed(rest), seconds(running.job->estimate), settings_.weights))
      return Duration::zero();
    adopt(goes_on);
    running_.put_back_for_longer(running, now_, rest.estimate);
    return rest.estimate;
  }

  std::optional<Instant> planned_start(const Job& job) const override {
    const auto waiting = std::ranges::find(waiting_, &job, &Waiting::job);
    return waiting == waiting_.end() ? std::nullopt : std::optional{waiting->start};
  }

 private:
  static constexpr double kUndecided = 0.5;  // SP before it is known how long a job waits
  static constexpr Duration kLeastExtension = std::chrono::seconds{1};

  [[nodiscard]] SlackOf first_slack(const Job& job, double scheduler_part) const {
    return slack_of(job.user_priority, job.political_priority, scheduler_part, settings_.slack_factor,
                    average_wait_.seconds_of(job));
  }

  // Applies what has happened since the last pass: first the ends, then the submissions.
  void take_in(const ClusterView& view, RunningPlan::AtEstimate at_estimate) {
    now_ = view.now;
    free_ = view.free.total();
    begun_.clear();
    const RunningPlan::Change change = running_.follow(view, at_estimate);
    bool has_freed = change.freed_until > now_;
    submitted_.clear();
    for (const Trigger& trigger : view.triggers) {
      if (trigger.kind == TriggerKind::kSubmit) submitted_.push_back(trigger.job);
      if (trigger.kind != TriggerKind::kFinish) continue;
      has_freed = forget(trigger.job) || has_freed;
      std::erase(submitted_, trigger.job);  // taken back at once
    }
    if (change.rebuilt || a_planned_start_has_passed())
      plan_again(view);
    else if (has_freed)
      remove();
    for (const Job* job : submitted_)
      if (!knows(*job)) insert(*job);
    if (waiting_.size() + begun_.size() != view.waiting.size()) plan_again(view);  // the view has another queue
  }

  // ---- insert, section 4.2 ----

  // Starts the jobs that are due: the next insert of this instant cannot delay what runs.
  void insert(const Job& job) {
    sort_by_start();
    const SlackCandidate best = search_.insert(profile(), waiting_, now_, job, first_slack(job, kUndecided));
    adopt(best);
    const double part = scheduler_priority(seconds(best.at - now_), average_wait_.seconds_of(job));
    waiting_.push_back({&job, best.at, first_slack(job, part)});
    start_due_jobs();
  }

  // Time has become free, section 4.2.
  void remove() {
    if (waiting_.empty()) return;
    sort_by_start();
    adopt(search_.compress(profile(), waiting_, now_));
  }

  // ---- the plan ----

  void adopt(const SlackCandidate& candidate) {
    for (const auto& move : candidate.moves) move_to(waiting_[move.which], move.start);
  }

  void move_to(Waiting& waiting, Instant start) {
    const Duration delay = start - waiting.start;
    if (delay > Duration::zero() || settings_.slack_factor > 0)  // without slack, moving up adds none
      use_slack(waiting.slack, delay);
    waiting.start = start;
  }

  void sort_by_start() {
    std::ranges::sort(waiting_, {}, [](const Waiting& w) { return std::tuple{w.start, w.job->submitted, w.job->id}; });
  }

  // In a real run, if the daemon was delayed or cores came late. The plan is inconsistent from then on.
  [[nodiscard]] bool a_planned_start_has_passed() const {
    return std::ranges::any_of(waiting_, [this](const Waiting& waiting) { return waiting.start < now_; });
  }

  // The running jobs differ from the plan: places all waiting jobs again in the order of their planned starts, new ones
  // last. O(waiting^2), as each is looked up in the queue; the search for the cheapest schedule costs more than that
  // for each job.
  void plan_again(const ClusterView& view) {
    sort_by_start();
    std::erase_if(waiting_, [&](const Waiting& w) {
      return std::ranges::none_of(view.waiting, [&](const Job* job) { return job->id == w.job->id; });
    });
    for (Waiting& waiting : waiting_) move_to(waiting, place(profile(), *waiting.job, now_));
    for (const Waiting& waiting : waiting_) take_back(profile(), *waiting.job, waiting.start);
    for (const Job* job : view.waiting)
      if (!knows(*job)) insert(*job);
  }

  // Starts due jobs as far as cores are free. Those of a job that has reached its estimate are not before the tick has
  // decided.
  void start_due_jobs() {
    sort_by_start();
    std::erase_if(waiting_, [this](const Waiting& waiting) {
      const Job& job = *waiting.job;
      if (waiting.start > now_ || cores_needed(job) > free_) return false;
      free_ -= cores_needed(job);
      begun_.push_back({job.id, {cores_needed(job), 1, {}}});
      profile().reserve(now_, now_ + job.estimate, cores_needed(job));
      running_.note_start(job, now_);
      average_wait_.add(job, now_ - job.submitted);
      return true;
    });
  }

  static CoreCount cores_of(const std::vector<Start>& starts) {
    CoreCount sum = 0;
    for (const Start& start : starts) sum += start.allocation.cores;
    return sum;
  }

  bool forget(const Job* job) {
    return std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.job == job; }) > 0;
  }
  [[nodiscard]] bool knows(const Job& job) const {
    return std::ranges::any_of(waiting_, [&](const Waiting& waiting) { return waiting.job == &job; }) ||
           std::ranges::any_of(begun_, [&](const Start& start) { return start.job == job.id; });
  }

  // The plan of running and waiting jobs without `but`.
  Availability plan_of(const ClusterView& view, const Job* but) const override {
    Availability plan = availability_of_running(view);
    for (const Waiting& waiting : waiting_) {
      if (but != nullptr && waiting.job->id == but->id) continue;
      place(plan, *waiting.job, std::max(waiting.start, view.now));
    }
    return plan;
  }

  Availability& profile() { return running_.profile(); }

  SlackSettings settings_;
  Instant now_{};
  RunningPlan running_;           // its profile has running jobs only; a search adds waiting ones and takes them back
  std::vector<Waiting> waiting_;  // no planned start is before the last pass
  CoreCount free_ = 0;            // now, without the cores of begun_
  std::vector<Start> begun_;      // started in this pass
  std::vector<const Job*> submitted_;  // in this pass
  std::optional<Instant> taken_in_;    // when more_time() has called take_in(): decide() does not repeat it
  bool tick_has_freed_ = false;        // it has taken a job out of the plan that still held time there
  SlackSearch search_;
  AverageWait average_wait_;
};

constexpr ParameterSpec kSlackParameters[] = {
    {"sf", ParameterType::kNumber, "3", "0..1000", "",
     "slack factor SF: the first slack is (1 - p) SF AWT; 0 is conservative backfilling",
     "Talby and Feitelson 1999, section 4.3"},
    {"awt", ParameterType::kNumbers, "auto", "1..1e9|auto|auto-by-size|conservative|conservative-by-size", "seconds",
     "average wait time AWT; several numbers: of jobs with 1, 2, up to 4, up to 8, ... processors; auto: mean of the "
     "last 1000 starts, at least 60 s; conservative: of the same jobs under conservative backfilling, found by a "
     "simulation before the run; -by-size: apart for each of these sizes",
     "Talby and Feitelson 1999, section 4.3; auto is ours"},
    {"heuristic", ParameterType::kChoice, "ast", "ast|aat|du|dc|dp|all", "",
     "who is placed first among those that make room: ascending scheduled time, ascending arrival time, descending "
     "utilisation, descending cost, descending priority; all: every order of up to 6 jobs is tried, ast of more",
     "Talby and Feitelson 1999, sections 4.6 and 4.5"},
    {"alpha_u", ParameterType::kNumber, "1", "0..1", "", "weight of utilisation",
     "Talby and Feitelson 1999, section 4.2"},
    {"alpha_t", ParameterType::kNumber, "1", "0..1", "", "weight of time", "Talby and Feitelson 1999, section 4.2"},
    {"alpha_p", ParameterType::kNumber, "1", "0..1", "", "weight of priorities",
     "Talby and Feitelson 1999, section 4.4"},
    {"alpha_f", ParameterType::kNumber, "1", "0..1", "", "weight of fairness: how much of the slack is used up",
     "Talby and Feitelson 1999, section 4.4"},
};

std::unique_ptr<Policy> make_slack(const Parameters& parameters) {
  const auto heuristic = parameters.choice<SlackHeuristic>("heuristic", {{"ast", SlackHeuristic::kAst},
                                                                         {"aat", SlackHeuristic::kAat},
                                                                         {"du", SlackHeuristic::kDu},
                                                                         {"dc", SlackHeuristic::kDc},
                                                                         {"dp", SlackHeuristic::kDp},
                                                                         {"all", SlackHeuristic::kAll}});
  return std::make_unique<Slack>(SlackSettings{parameters.number("sf"),
                                               heuristic,
                                               {parameters.number("alpha_u"), parameters.number("alpha_t"),
                                                parameters.number("alpha_p"), parameters.number("alpha_f")}},
                                 AverageWait{parameters});
}

}  // namespace

constinit const PolicyEntry kSlackPolicy{
    "slack",
    "conservative backfilling in which jobs may be delayed by their slack, at a price",
    "Talby and Feitelson 1999",
    kSlackParameters,
    make_slack,
    false,
    with_average_waits};

}  // namespace replay
