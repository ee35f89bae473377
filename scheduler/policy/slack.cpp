// Slack-based priority backfilling. Every waiting job has a planned start and some slack, by which it may be delayed. A new job
// is tried at each instant at which something begins or ends in the plan; those planned later make room in the order of a
// heuristic; the cheapest schedule is taken, in which nobody is delayed beyond its slack. So a job starts no later than
// first planned plus its first slack. When a job ends early, the waiting ones move up in the cheapest way.
// Source: Talby and Feitelson 1999, sections 4.2 (insert, remove), 4.3, 4.4 (slack_price.hpp) and 4.6 (heuristics). We differ in
// `remove`: jobs are lifted out one by one, as plain re-insertion made all heuristics but AST worse than conservative
// backfilling. With sf=0 the schedule is that of conservative:compress=start-order. docs/policies/slack.md

#include "scheduler/policy/slack.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduler/policy/running_plan.hpp"
#include "scheduler/policy/slack_price.hpp"

namespace replay {
namespace {

enum class Heuristic : std::uint8_t { kAst, kAat, kDu, kDc, kDp };

struct Settings {
  double slack_factor;
  std::optional<double> average_wait_s;  // nothing: that of the last starts
  Heuristic heuristic;
  SlackWeights weights;
};

struct Waiting {
  const Job* job;
  Instant start;  // te
  SlackOf slack;

  [[nodiscard]] Instant end() const { return start + job->estimate; }
};

struct Move {
  std::size_t which;  // of the waiting jobs
  Instant start;
};

// A schedule that could be taken: where the new job starts, and who moves.
struct Candidate {
  double price = kImpossible;
  std::size_t moved = 0;
  Instant at{};
  std::vector<Move> moves;
};

// Equal prices, but for rounding, go to the schedule that moves fewer jobs, then to the earlier one.
bool is_cheaper(const Candidate& a, const Candidate& b) {
  if (std::isinf(a.price) || std::isinf(b.price)) return a.price < b.price;
  constexpr double kRelative = 1e-9;
  const double tolerance = kRelative * std::max(std::abs(a.price), std::abs(b.price));
  if (std::abs(a.price - b.price) > tolerance) return a.price < b.price;
  return std::tuple{a.moved, a.at} < std::tuple{b.moved, b.at};
}

// The average wait of the last starts: AWT where none is given.
class RecentWaits {
 public:
  void add(Duration wait) {
    waits_.push_back(seconds(wait));
    sum_ += waits_.back();
    if (waits_.size() <= kKept) return;
    sum_ -= waits_.front();
    waits_.pop_front();
  }
  [[nodiscard]] double mean_s() const {
    return waits_.empty() ? kLeast : std::max(kLeast, sum_ / static_cast<double>(waits_.size()));
  }

 private:
  static constexpr std::size_t kKept = 1000;
  static constexpr double kLeast = 60;
  std::deque<double> waits_;
  double sum_ = 0;
};

class Slack final : public Policy {
 public:
  explicit Slack(const Settings& settings) : settings_(settings) {}

  void decide(const ClusterView& view, Actions& out) override {
    now_ = view.now;
    const RunningPlan::Change change = running_.follow(view);
    bool has_freed = change.freed_until > now_;
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kFinish) has_freed = forget(trigger.job) || has_freed;
    if (change.rebuilt)
      plan_again(view);
    else if (has_freed)
      remove();
    for (const Trigger& trigger : view.triggers)
      if (trigger.kind == TriggerKind::kSubmit && !knows(*trigger.job)) insert(*trigger.job);
    if (waiting_.size() != view.waiting.size()) plan_again(view);  // a view that others made
    start_who_is_due(view, out);
  }

  CoreCount free_until(const ClusterView& view, Instant until) const override {
    return free_by_plan(view, plan_of(view, nullptr), until);
  }

  bool may_start_now(const ClusterView& view, const Job& job) const override {
    return may_start_by_plan(view, plan_of(view, &job), job);
  }

  // Section 4.7: a tenth of its declared time more, if that is cheaper than to have run it for nothing. Others may have to wait for
  // it, within their slack; it cannot be put off itself.
  Duration more_time(const ClusterView& view, const RunningJob& running) override {
    now_ = view.now;
    Job rest = *running.job;
    rest.estimate = std::max(running.job->estimate / 10, kLeastExtension);
    if (!running_.is_in_step_with(view, running) || running.budget.rate() != 1) return Duration::zero();
    running_.lift_out(running, now_);
    Candidate goes_on;
    if (profile().fits(rest.processes, now_, rest.estimate)) {
      sort_by_start();
      const SlackOf slack = first_slack(rest, kUndecided);
      goes_on = try_at(rest, slack, now_, heuristic_order(slack), 0);
    }
    if (goes_on.price >= price_of_waiting(rest.processes, seconds(running.job->estimate), settings_.weights)) {
      running_.put_back(running, now_);
      return Duration::zero();
    }
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

  [[nodiscard]] double seconds_from_now(Instant at) const { return seconds(at - now_); }
  [[nodiscard]] double average_wait_s() const { return settings_.average_wait_s.value_or(recent_.mean_s()); }
  [[nodiscard]] SlackOf first_slack(const Job& job, double scheduler_part) const {
    return slack_of(job.user_priority, job.political_priority, scheduler_part, settings_.slack_factor,
                    average_wait_s());
  }

  // ---- insert, section 4.2 ----

  void insert(const Job& job) {
    const SlackOf slack = first_slack(job, kUndecided);
    Candidate best = best_insertion(job, slack);
    adopt(best);
    const double wait = seconds_from_now(best.at);
    waiting_.push_back({&job, best.at, first_slack(job, scheduler_priority(wait, average_wait_s()))});
  }

  Candidate best_insertion(const Job& job, const SlackOf& slack) {
    sort_by_start();
    Availability& plan = profile();
    for (const Waiting& waiting : waiting_) plan.reserve(waiting.start, waiting.end(), waiting.job->processes);
    Candidate best;
    best.at = plan.earliest_fit(job.processes, job.estimate, now_);
    best.price = price_of_waiting(job.processes, seconds_from_now(best.at), settings_.weights);
    const std::vector<Instant> instants = instants_of_plan();
    for (const Waiting& waiting : waiting_) take_back(plan, *waiting.job, waiting.start);

    const std::vector<std::size_t> order = heuristic_order(slack);
    std::size_t staying = 0;  // those planned before ts keep their places
    for (const Instant ts : instants) {
      for (; staying < waiting_.size() && waiting_[staying].start < ts; ++staying)
        plan.reserve(waiting_[staying].start, waiting_[staying].end(), waiting_[staying].job->processes);
      if (!plan.fits(job.processes, ts, job.estimate)) continue;
      Candidate candidate = try_at(job, slack, ts, order, staying);
      if (is_cheaper(candidate, best)) best = std::move(candidate);
    }
    for (std::size_t i = 0; i < staying; ++i) take_back(plan, *waiting_[i].job, waiting_[i].start);
    return best;
  }

  // The new job at ts; those planned at ts or later follow in the heuristic's order.
  Candidate try_at(const Job& job, const SlackOf& slack, Instant ts, const std::vector<std::size_t>& order,
                   std::size_t staying) {
    Availability& plan = profile();
    Candidate candidate;
    candidate.at = ts;
    candidate.price = price_of_waiting(job.processes, seconds_from_now(ts), settings_.weights);
    plan.reserve(ts, ts + job.estimate, job.processes);
    placed_.clear();
    for (const std::size_t i : order) {
      if (i < staying) continue;
      const Waiting& waiting = waiting_[i];
      const Instant start = plan.earliest_fit(waiting.job->processes, waiting.job->estimate, now_);
      candidate.price += cost_of_moving(waiting.job->processes, waiting.slack, seconds(start - waiting.start), slack,
                                        settings_.weights);
      if (std::isinf(candidate.price)) break;
      plan.reserve(start, start + waiting.job->estimate, waiting.job->processes);
      placed_.push_back({i, start});
      if (start != waiting.start) candidate.moves.push_back({i, start});
    }
    for (const Move& placed : placed_) take_back(plan, *waiting_[placed.which].job, placed.start);
    take_back(plan, job, ts);
    candidate.moved = candidate.moves.size();
    return candidate;
  }

  // ---- remove: time has become free ----

  void remove() {
    if (waiting_.empty()) return;
    sort_by_start();
    constexpr double kAnyPriority = 0.5;  // of nobody: the same factor in all prices
    const SlackOf nobody{kAnyPriority, 0, 0, true};
    const std::vector<std::size_t> order = heuristic_order(nobody);
    Availability& plan = profile();
    for (const Waiting& waiting : waiting_) plan.reserve(waiting.start, waiting.end(), waiting.job->processes);
    Candidate best;
    best.price = 0;  // nobody moves
    for (std::size_t staying = 0; staying < waiting_.size(); ++staying) {
      if (staying > 0 && waiting_[staying].start == waiting_[staying - 1].start) continue;
      Candidate candidate = try_compression(nobody, order, staying);
      if (is_cheaper(candidate, best)) best = std::move(candidate);
      if (settings_.slack_factor == 0) break;  // only the full compression, as conservative backfilling
    }
    for (const Waiting& waiting : waiting_) take_back(plan, *waiting.job, waiting.start);
    adopt(best);
  }

  // Those from `staying` on are lifted out one by one and put back at their earliest hole.
  Candidate try_compression(const SlackOf& nobody, const std::vector<std::size_t>& order, std::size_t staying) {
    Availability& plan = profile();
    Candidate candidate;
    candidate.price = 0;
    for (const std::size_t i : order) {
      if (i < staying) continue;
      const Waiting& waiting = waiting_[i];
      const Job& job = *waiting.job;
      take_back(plan, job, waiting.start);
      const Instant start = place(plan, job, now_);
      if (start == waiting.start) continue;
      candidate.price +=
          cost_of_moving(job.processes, waiting.slack, seconds(start - waiting.start), nobody, settings_.weights);
      candidate.moves.push_back({i, start});
    }
    for (const Move& move : candidate.moves) take_back(plan, *waiting_[move.which].job, move.start);
    for (const Move& move : candidate.moves) {
      const Waiting& waiting = waiting_[move.which];
      plan.reserve(waiting.start, waiting.end(), waiting.job->processes);
    }
    candidate.moved = candidate.moves.size();
    return candidate;
  }

  // ---- the plan ----

  void adopt(const Candidate& candidate) {
    for (const Move& move : candidate.moves) {
      Waiting& waiting = waiting_[move.which];
      const double delay = seconds(move.start - waiting.start);
      if (delay > 0 || settings_.slack_factor > 0) waiting.slack.s -= delay;  // without slack, gains are not banked
      waiting.start = move.start;
    }
  }

  void sort_by_start() {
    std::ranges::sort(waiting_, {}, [](const Waiting& w) { return std::tuple{w.start, w.job->submitted, w.job->id}; });
  }

  // now, and where something begins or ends in the plan, ascending.
  [[nodiscard]] std::vector<Instant> instants_of_plan() const {
    std::vector<Instant> instants{now_};
    for (const Instant end : running_.ends())
      if (end > now_) instants.push_back(end);
    for (const Waiting& waiting : waiting_) {
      instants.push_back(std::max(waiting.start, now_));
      instants.push_back(waiting.end());
    }
    std::ranges::sort(instants);
    const auto again = std::ranges::unique(instants);
    instants.erase(again.begin(), again.end());
    return instants;
  }

  // Section 4.6: the order in which those who have to make room are placed. REQUIRES: waiting_ is sorted by start.
  [[nodiscard]] std::vector<std::size_t> heuristic_order(const SlackOf& favoured) const {
    std::vector<std::size_t> order(waiting_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto by = [&](auto key) {
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return key(waiting_[i]); });
    };
    const auto arrival = [](const Waiting& w) { return std::tuple{w.job->submitted, w.job->id}; };
    switch (settings_.heuristic) {
      case Heuristic::kAst: break;
      case Heuristic::kAat: by(arrival); break;
      case Heuristic::kDu: by([](const Waiting& w) { return -w.job->processes * seconds(w.job->estimate); }); break;
      case Heuristic::kDc:
        by([&](const Waiting& w) {
          return -cost_of_moving(w.job->processes, w.slack, 1, favoured, settings_.weights);
        });
        break;
      case Heuristic::kDp: by([&](const Waiting& w) { return std::tuple{-w.slack.p, arrival(w)}; }); break;
    }
    return order;
  }

  // What runs is not what we knew: all are placed anew in the order of their planned starts, new ones last.
  void plan_again(const ClusterView& view) {
    sort_by_start();
    std::erase_if(waiting_, [&](const Waiting& w) {
      return std::ranges::none_of(view.waiting, [&](const Job* job) { return job->id == w.job->id; });
    });
    Availability plan = availability_of_running(view);
    for (Waiting& waiting : waiting_) {
      const Instant start = place(plan, *waiting.job, now_);
      waiting.slack.s -= seconds(start - waiting.start);
      waiting.start = start;
    }
    for (const Job* job : view.waiting)
      if (!knows(*job)) insert(*job);
  }

  void start_who_is_due(const ClusterView& view, Actions& out) {
    sort_by_start();
    CoreCount free = view.free.total();
    std::size_t started = 0;
    for (const Waiting& waiting : waiting_) {
      const Job& job = *waiting.job;
      if (waiting.start > now_ || job.processes > free) break;
      free -= job.processes;
      out.emplace_back(Start{job.id, {job.processes, 1, {}}});
      profile().reserve(now_, now_ + job.estimate, job.processes);
      running_.note_start(job, now_);
      recent_.add(now_ - job.submitted);
      ++started;
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(started));
    if (!waiting_.empty()) out.emplace_back(WakeAt{waiting_.front().start});
  }

  bool forget(const Job* job) {
    return std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.job == job; }) > 0;
  }
  [[nodiscard]] bool knows(const Job& job) const {
    return std::ranges::any_of(waiting_, [&](const Waiting& waiting) { return waiting.job == &job; });
  }

  // Running and waiting jobs, but for one of them.
  Availability plan_of(const ClusterView& view, const Job* but) const {
    Availability plan = availability_of_running(view);
    for (const Waiting& waiting : waiting_) {
      if (but != nullptr && waiting.job->id == but->id) continue;
      place(plan, *waiting.job, std::max(waiting.start, view.now));
    }
    return plan;
  }

  Availability& profile() { return running_.profile(); }

  Settings settings_;
  Instant now_{};
  RunningPlan running_;  // its profile has running jobs only; waiting ones come and go while prices are asked
  std::vector<Waiting> waiting_;
  std::vector<Move> placed_;
  RecentWaits recent_;
};

}  // namespace

std::unique_ptr<Policy> make_slack(const Parameters& parameters) {
  static constexpr std::string_view kHeuristics[] = {"ast", "aat", "du", "dc", "dp"};
  const auto heuristic = std::ranges::find(kHeuristics, parameters.choice("heuristic")) - std::begin(kHeuristics);
  return std::make_unique<Slack>(Settings{parameters.number("sf"),
                                          parameters.number_unless("awt", "auto"),
                                          static_cast<Heuristic>(heuristic),
                                          {parameters.number("alpha_u"), parameters.number("alpha_t"),
                                           parameters.number("alpha_p"), parameters.number("alpha_f")}});
}

}  // namespace replay
