#include "scheduler/sim/simulator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <vector>

#include "scheduler/core/arrivals.hpp"
#include "scheduler/model/error.hpp"
#include "scheduler/model/progress.hpp"

namespace replay {
namespace {

// Ends in time order; at one instant in the order of the starts. An entry whose generation is not the job's own any
// more was overtaken by a change of rate and is skipped.
struct PlannedEnd {
  Instant at;
  std::uint64_t start_order;
  std::uint32_t generation;
  JobId job;
  auto operator<=>(const PlannedEnd&) const = default;
};

class Simulation {
 public:
  Simulation(const Machine& machine, const Workload& workload, Policy& policy, const RuntimeModel& model,
             log::Sink& log, const SimulationOptions& options)
      : arrivals_(workload),
        model_(model),
        options_(options),
        controller_(
            machine, policy,
            [&model](const Job& job, const Allocation& allocation) { return model.rate(job.declared, allocation); },
            log, {options.overrun, nullptr}) {}

  SimulationResult run() {
    for (std::size_t turn = 0;; ++turn) {
      const Instant next = next_instant();
      if (next == kNever) break;
      const bool stop = (turn & 0xfff) == 0 && options_.interrupted && options_.interrupted();
      if (stop || next > options_.until) {
        result_.interrupted = stop;
        end_early(stop ? now_ : options_.until);
        return result_;
      }
      if ((turn & 0xffff) == 0 && options_.progress) options_.progress(result_.ended);
      advance_to(next);
    }
    if (controller_.waiting() > 0)
      throw PolicyError(
          fmt::format("{} jobs wait, nothing runs, and the policy starts none of them", controller_.waiting()));
    return result_;
  }

 private:
  struct Running {
    const TracedJob* traced;
    Progress progress;
    std::uint64_t start_order;
    double rate;  // while it is not suspended
    std::uint32_t generation = 0;
  };

  Instant next_instant() {
    while (!ends_.empty() && is_stale(ends_.top())) ends_.pop();
    Instant next = std::min(arrivals_.next(), controller_.next_timer());
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    return next == kNever ? kNever : std::max(next, now_);
  }

  bool is_stale(const PlannedEnd& end) const {
    const auto found = running_.find(end.job);
    return found == running_.end() || found->second.generation != end.generation;
  }

  // Everything that happens at `now`, as one batch; then its echoes at the same instant, until there are none.
  void advance_to(Instant now) {
    now_ = now;
    events_.clear();
    while (const TracedJob* job = arrivals_.take(now)) {
      arrived_.insert_or_assign(job->job.id, job);
      events_.emplace_back(Submit{job});
    }
    for (; !ends_.empty() && ends_.top().at == now; ends_.pop())
      if (!is_stale(ends_.top())) end(ends_.top().job, outcome_at_end(ends_.top().job));
    hand_over();
  }

  void hand_over() {
    do {
      batch_.swap(events_);
      events_.clear();
      for (const Action& action : controller_.handle(now_, batch_))
        std::visit([this](const auto& a) { apply(a); }, action);
    } while (!events_.empty());
  }

  void end_early(Instant now) {
    now_ = std::max(now, now_);
    const auto kills = controller_.interrupt(now_);
    for (const Action& action : std::vector<Action>{kills.begin(), kills.end()})
      std::visit([this](const auto& a) { apply(a); }, action);
    hand_over();
  }

  Outcome outcome_at_end(JobId job) const {
    return running_.at(job).traced->truth.cut_at_request ? Outcome::kOverrun : Outcome::kCompleted;
  }

  void end(JobId job, Outcome outcome) {
    running_.erase(job);
    arrived_.erase(job);
    arrivals_.on_end(job, now_);
    ++result_.ended;
    events_.emplace_back(Finish{job, {outcome, 0, Verification::kNone, -1, {}}});
  }

  void apply(const Start& action) {
    const TracedJob* traced = arrived_.at(action.job);
    const double rate = true_rate(*traced, action.allocation);
    Running running{traced, Progress{traced->truth.runtime, now_, rate}, starts_++, rate};
    ends_.push({running.progress.end(), running.start_order, 0, action.job});
    running_.emplace(action.job, std::move(running));
  }

  void apply(const Resize& action) {
    Running& running = running_.at(action.job);
    running.rate = true_rate(*running.traced, action.allocation);
    set_rate(running, running.rate);
    events_.emplace_back(Resized{action.job});
  }

  void apply(const Suspend& action) {
    set_rate(running_.at(action.job), 0);
    events_.emplace_back(Suspended{action.job});
  }

  void apply(const Resume& action) {
    Running& running = running_.at(action.job);
    set_rate(running, running.rate);
    events_.emplace_back(Resumed{action.job});
  }

  void apply(const Kill& action) {
    if (!running_.contains(action.job)) return;
    end(action.job, action.reason == KillReason::kOverrun     ? Outcome::kOverrun
                    : action.reason == KillReason::kCancelled ? Outcome::kCancelled
                                                              : Outcome::kKilled);
  }

  void apply(const Extend&) {}
  void apply(const WakeAt&) {}

  void set_rate(Running& running, double rate) {
    running.progress.change_rate(now_, rate);
    ++running.generation;
    const Instant end = running.progress.end();
    if (end != kNever) ends_.push({end, running.start_order, running.generation, running.traced->job.id});
  }

  double true_rate(const TracedJob& traced, const Allocation& allocation) const {
    return model_.rate(traced.truth.behaviour, allocation);
  }

  Arrivals arrivals_;
  const RuntimeModel& model_;
  const SimulationOptions& options_;
  Controller controller_;
  Instant now_ = Instant::min();
  std::unordered_map<JobId, const TracedJob*> arrived_;
  std::unordered_map<JobId, Running> running_;
  std::priority_queue<PlannedEnd, std::vector<PlannedEnd>, std::greater<>> ends_;
  std::vector<Event> events_;  // for the next call of the controller
  std::vector<Event> batch_;
  std::uint64_t starts_ = 0;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const Machine& machine, const Workload& workload, Policy& policy, const RuntimeModel& model,
                          log::Sink& log, const SimulationOptions& options) {
  return Simulation{machine, workload, policy, model, log, options}.run();
}

}  // namespace replay
