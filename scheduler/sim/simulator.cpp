#include "scheduler/sim/simulator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/core/arrivals.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/runtime_model/shared_rates.hpp"

namespace replay {
namespace {

// The planned end of a job. An entry with an old generation was overtaken by a change of rate and is skipped.
struct PlannedEnd {
  Instant at;
  std::uint64_t start_order;
  JobId job;
  std::uint32_t generation;
};
// By time; at one instant by start.
struct IsLater {
  bool operator()(const PlannedEnd& a, const PlannedEnd& b) const {
    return a.at != b.at ? a.at > b.at : a.start_order > b.start_order;
  }
};

// The node events of a run in their order, with those that follow: at its `until` a node is up, unless another event of it
// came before.
class NodeEvents {
 public:
  explicit NodeEvents(std::span<const NodeEvent> events) : left_(events) { find_next(); }

  /// Asked at each instant of every run.
  [[nodiscard]] Instant next() const { return next_; }
  /// The next one that is due; nothing if none is.
  std::optional<NodeChange> take(Instant now) {
    if (next_ > now) return std::nullopt;
    NodeChange change = take_first(now);
    find_next();
    return change;
  }

 private:
  void find_next() {
    next_ = left_.empty() ? kNever : left_.front().at;
    for (const auto& [node, until] : closed_) next_ = std::min(next_, until);
  }
  /// REQUIRES: one is due.
  NodeChange take_first(Instant now) {
    if (!left_.empty() && left_.front().at <= now) {
      const NodeChange change = left_.front().change;
      left_ = left_.subspan(1);
      std::erase_if(closed_, [&](const ClosedNode& closed) { return closed.node == change.node; });
      if (change.until != kNever) closed_.push_back({change.node, change.until});
      return change;
    }
    const auto due = std::ranges::find_if(closed_, [now](const ClosedNode& closed) { return closed.until <= now; });
    const NodeChange up{.node = due->node, .reason = {}, .reservation = {}};
    closed_.erase(due);
    return up;
  }

  std::span<const NodeEvent> left_;
  std::vector<ClosedNode> closed_;  // to be up again, in the order of the events
  Instant next_ = kNever;
};

class Simulation {
 public:
  Simulation(const Machine& machine, const Workload& workload, Policy& policy, const RuntimeModel& model,
             log::Sink& log, const SimulationOptions& options)
      : arrivals_(workload),
        model_(model),
        log_(log),
        options_(options),
        machine_(machine),
        controller_(machine, policy, model, log, {options.overrun, grace(), workload.zero_time_of_day}),
        shared_(machine, model.looks_at_nodes()),
        nodes_(options.nodes) {}

  SimulationResult run() {
    for (std::size_t turn = 0;; ++turn) {
      if (is_silence_the_last()) lose_silent_nodes();
      if (all_is_held_back()) cancel_held_back();
      const Instant next = next_instant();
      if (next == kNever) break;
      const bool stop = options_.interrupted && options_.interrupted();  // each turn: a pass may take long
      if (stop || next > options_.until) {
        result_.interrupted = stop;
        const Instant end = !stop ? options_.until : now_ == Instant::min() ? next : now_;
        if (stop) log_.record({end, log::Note{"interrupted"}});  // as a real run does
        end_early(end, "the run was interrupted");
        return result_;
      }
      if (next > kEndOfPlans)
        throw InputError(
            fmt::format("the jobs take too long: expected a schedule that ends before {} s, found job ends behind",
                        to_text(kEndOfPlans)));
      if ((turn & 0xffff) == 0 && options_.progress) options_.progress(result_.ended);
      advance_to(next);
      if (controller_.failure()) {
        end_early(now_, "the policy has failed");
        std::rethrow_exception(controller_.failure());
      }
    }
    if (controller_.waiting() > 0)
      throw PolicyError(
          fmt::format("{} jobs wait, nothing runs, and the policy starts none of them", controller_.waiting()));
    return result_;
  }

 private:
  // A job from its start to its end.
  struct Running {
    const TracedJob* traced = nullptr;
    Progress progress{};
    std::uint64_t start_order = 0;
    double rate = 0;  // while it is not suspended
    CoreCount cores = 0;
    std::uint32_t generation = 0;
    bool has_end = false;         // in ends_, and not overtaken
    bool cut_at_request = false;  // as in its truth, which is no longer in the cache when the job ends
    Allocation shared{};          // its cores, if others may be on them too; else empty
  };
  struct UnheardEnd {
    JobId job;
    Outcome outcome;
    bool is_ordered = false;  // else it has ended by itself
  };
  // A resize that takes time.
  struct Moving {
    Instant until;
    JobId job;
    Allocation to;
  };

  Instant next_instant() {
    while (!ends_.empty() && is_stale(ends_.top())) {
      ends_.pop();
      --stale_;
    }
    Instant next = std::min({arrivals_.next(), arrivals_.next_cancel(), controller_.next_timer()});
    if (!controller_.idle() || next != kNever) next = std::min(next, nodes_.next());
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    for (const Moving& moving : moving_) next = std::min(next, moving.until);
    return next == kNever ? kNever : std::max(next, now_);
  }

  bool is_stale(const PlannedEnd& end) const {
    if (stale_ == 0) return false;  // as in nearly every run of rigid jobs
    const Running* job = running_.find(end.job);
    return job == nullptr || job->start_order != end.start_order || job->generation != end.generation;
  }

  // Everything that happens at `now`, as one batch; then the events that follow from it at `now`, until there are none.
  void advance_to(Instant now) {
    now_ = now;
    events_.clear();
    arrivals_.forget_ended();
    while (auto change = nodes_.take(now)) take_in(*std::move(change));
    while (const TracedJob* job = arrivals_.take(now)) events_.emplace_back(Submit{job});
    while (!ends_.empty() && ends_.top().at == now) {
      const JobId due = ends_.top().job;
      const bool overtaken = is_stale(ends_.top());
      ends_.pop();  // first: an end moves the ends of its neighbours
      if (overtaken) {
        --stale_;
        continue;
      }
      Running& job = running_.at(due);
      job.has_end = false;
      end_if_heard({due, job.cut_at_request ? Outcome::kOverrun : Outcome::kCompleted}, job);
    }
    while (const auto job = arrivals_.take_cancel(now)) cancel(*job);
    end_moves();
    hand_over();
  }

  void hand_over() {
    do {
      batch_.swap(events_);
      events_.clear();
      for (const Order& order : controller_.handle(now_, batch_)) carry_out(order);
    } while (!events_.empty());
  }

  void end_early(Instant now, const char* reason) {
    now_ = std::max(now, now_);
    is_over_ = true;
    const Orders kills = controller_.interrupt(now_, reason);
    for (const Order& order : std::vector<Order>{kills.begin(), kills.end()}) carry_out(order);
    hand_over();
  }

  void end(JobId id, Running& job, JobEnd&& how) {
    off_cores(id);
    std::erase_if(moving_, [id](const Moving& moving) { return moving.job == id; });
    if (!unheard_.empty()) std::erase_if(unheard_, [id](const UnheardEnd& end) { return end.job == id; });
    overtake(job);
    running_.erase(id);
    if (how.outcome == Outcome::kLost && options_.requeues_lost) {
      events_.emplace_back(Requeue{id, std::move(how.reason)});
      return;
    }
    arrivals_.on_end(id, now_);
    ++result_.ended;
    events_.emplace_back(std::in_place_type<Finish>, id, std::move(how));
  }
  void end(JobId id, Running& job, Outcome outcome) { end(id, job, {outcome, 0, Verification::kNone, -1, {}}); }

  void take_in(NodeChange change) {
    const auto [node, state] = std::pair{change.node, change.state};
    const std::string reason =
        fmt::format("node {} went down{}{}", node, change.reason.empty() ? "" : ": ", change.reason);
    events_.emplace_back(std::move(change));
    std::erase(silent_, node);
    if (state == NodeState::kSilent) silent_.push_back(node);
    if (state != NodeState::kDown) {
      for (const UnheardEnd& end : std::exchange(unheard_, {}))  // whose jobs may have ended for another reason
        if (Running* const job = running_.find(end.job)) end_if_heard(end, *job);
      return;
    }
    for (const JobId id : controller_.jobs_on(node)) {
      Running* const job = running_.find(id);  // null: another node of it went down just now
      if (job == nullptr) continue;
      const auto ordered =
          std::ranges::find_if(unheard_, [id](const UnheardEnd& end) { return end.job == id && end.is_ordered; });
      const Outcome outcome = ordered == unheard_.end() ? Outcome::kLost : ordered->outcome;
      end(id, *job, {outcome, 0, Verification::kNone, -1, reason});
    }
  }

  // A timer of a plan that is in force no more would change nothing.
  [[nodiscard]] bool all_is_held_back() const {
    return controller_.held_back() > 0 && controller_.waiting() == 0 && controller_.running() == 0 &&
           arrivals_.next() == kNever && nodes_.next() == kNever;
  }

  [[nodiscard]] bool is_silent(JobId id) const {
    return std::ranges::any_of(silent_,
                               [&](NodeId node) { return std::ranges::count(controller_.jobs_on(node), id) > 0; });
  }

  // A job on a silent node has no end before that is heard of again.
  void end_if_heard(const UnheardEnd& how, Running& job) {
    if (!is_over_ && is_silent(how.job))
      unheard_.push_back(how);
    else
      end(how.job, job, how.outcome);
  }

  // Of a job on a silent node it is not known whether it has ended in time, until that is heard of again. Real runs have more
  // grace than most silences last.
  std::function<Duration(const Job&)> grace() {
    const auto is_of_silence = [](const NodeEvent& event) { return event.change.state == NodeState::kSilent; };
    if (std::ranges::none_of(options_.nodes, is_of_silence)) return nullptr;
    return [this](const Job& job) { return is_silent(job.id) ? Duration::max() : Duration::zero(); };
  }

  // What runs is on silent nodes and may have ended, and nothing comes: those nodes would never be heard of again.
  [[nodiscard]] bool is_silence_the_last() const {
    return !unheard_.empty() && unheard_.size() == running_.size() && arrivals_.next() == kNever &&
           arrivals_.next_cancel() == kNever && nodes_.next() == kNever;
  }

  // As a daemon does when the lease is over.
  void lose_silent_nodes() {
    events_.clear();
    for (const NodeId node : std::vector<NodeId>{silent_})
      take_in({.node = node, .state = NodeState::kDown, .reason = "was silent to the end", .reservation = {}});
    hand_over();
  }

  void cancel_held_back() {
    const std::vector<JobId> cancelled = controller_.cancel_held_back(now_);
    for (const JobId job : cancelled) arrivals_.on_end(job, now_), ++result_.ended;
    result_.broken_off = held_back_text(cancelled.size());
    hand_over();
  }

  // A waiting job leaves the queue; a running one is killed by the controller.
  void cancel(JobId id) {
    events_.emplace_back(Cancel{id});
    if (running_.find(id) != nullptr) return;
    arrivals_.on_end(id, now_);
    ++result_.ended;
  }

  void carry_out(const Order& order) {
    std::visit([this](const auto& o) { apply(o); }, order);
  }

  void apply(const order::Launch& order) {
    Running& job = running_.add(order.job);
    job.traced = &arrivals_.job(order.job);
    const ProcessCount processes = processes_on(order.allocation, job.traced->job.processes);
    job.cores = order.allocation.cores;
    job.rate = model_.true_rate(*job.traced, order.allocation, alone_on(machine_));
    job.progress = Progress{runtime_at(*job.traced, processes), now_, job.rate};
    job.start_order = starts_++;
    job.cut_at_request = job.traced->truth.cut_at_request;
    plan_end(job, job.progress.end());
    if (shared_.watches(order.allocation)) on_cores(job, order.allocation);
  }

  void apply(const order::Resize& order) {
    Running& running = running_.at(order.job);
    const Duration takes = model_.resize_time(as_true(*running.traced, order.allocation), running.cores,
                                              order.allocation, alone_on(machine_));
    if (takes > Duration::zero())
      moving_.push_back({now_ + takes, order.job, order.allocation});
    else
      move(running, order.allocation);
  }

  void move(Running& running, const Allocation& to) {
    off_cores(running.traced->job.id);
    on_cores(running, to);
    running.cores = to.cores;
    events_.emplace_back(Resized{running.traced->job.id});
  }

  void end_moves() {
    std::erase_if(moving_, [this](const Moving& moving) {
      if (moving.until != now_) return false;
      move(running_.at(moving.job), moving.to);
      return true;
    });
  }

  void apply(const order::Suspend& order) {
    Running& running = running_.at(order.job);
    off_cores(order.job);
    set_rate(running, 0);
    events_.emplace_back(Suspended{order.job});
  }

  void apply(const order::Resume& order) {
    Running& running = running_.at(order.job);
    if (shared_.watches(running.shared))
      on_cores(running, running.shared);
    else
      set_rate(running, running.rate);
    events_.emplace_back(Resumed{order.job});
  }

  void apply(const order::End& order) {
    if (Running* const job = running_.find(order.job)) end_if_heard({order.job, order.outcome, true}, *job);
  }

  void set_rate(Running& running, double rate) {
    running.progress.change_rate(now_, rate);
    overtake(running);
    ++running.generation;
    const Instant end = running.progress.end();
    if (end != kNever) plan_end(running, end);
  }

  void plan_end(Running& running, Instant at) {
    ends_.push({at, running.start_order, running.traced->job.id, running.generation});
    running.has_end = true;
  }

  // Marks the planned end, if there is one, as outdated.
  void overtake(Running& running) {
    if (std::exchange(running.has_end, false)) ++stale_;
  }

  // Its processes are on these cores now: sets its rate and those of its neighbours.
  void on_cores(Running& running, const Allocation& allocation) {
    if (shared_.watches(allocation)) running.shared = allocation;
    shared_.come(
        as_true(*running.traced, allocation), allocation,
        [this](JobId id, const Allocation& on, const Surroundings& around) { ask_rate_again(id, on, around); });
  }

  // Leaves the job's own rate to the caller.
  void off_cores(JobId job) {
    shared_.leave(
        job, [this](JobId id, const Allocation& on, const Surroundings& around) { ask_rate_again(id, on, around); });
  }

  void ask_rate_again(JobId id, const Allocation& on, const Surroundings& around) {
    Running& running = running_.at(id);
    running.rate = model_.true_rate(*running.traced, on, around);
    if (running.rate != running.progress.rate()) set_rate(running, running.rate);
  }

  Arrivals arrivals_;
  const RuntimeModel& model_;
  log::Sink& log_;
  const SimulationOptions& options_;
  const Machine& machine_;
  Controller controller_;
  SharedRates shared_;  // of the jobs as they truly are
  NodeEvents nodes_;
  std::vector<NodeId> silent_;
  std::vector<UnheardEnd> unheard_;  // of jobs on them
  bool is_over_ = false;             // the run ends early
  Instant now_ = Instant::min();
  JobMap<Running> running_;
  std::vector<Moving> moving_;  // in the order of their orders
  std::priority_queue<PlannedEnd, std::vector<PlannedEnd>, IsLater> ends_;
  std::vector<Event> events_;  // for the next call of the controller
  std::vector<Event> batch_;
  std::size_t stale_ = 0;  // of ends_: overtaken
  std::uint64_t starts_ = 0;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const Machine& machine, const Workload& workload, Policy& policy, const RuntimeModel& model,
                          log::Sink& log, const SimulationOptions& options) {
  return Simulation{machine, workload, policy, model, log, options}.run();
}

}  // namespace replay
