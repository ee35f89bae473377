#include "scheduler/live/engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/live/emulated_slowdowns.hpp"
#include "scheduler/live/run_inputs.hpp"
#include "scheduler/live/trace_clock.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::live {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLaunchCost = 500ms;           // of a small job, with room to spare
constexpr Duration kLaunchCostPerProcess = 20ms;  // start-up grows with the ranks
constexpr Duration kLeastGrace = 2s;
constexpr Duration kTick = 100ms;

class Engine final : public ExecutorListener {
 public:
  Engine(const Machine& machine, JobSource& source, Policy& policy, const RuntimeModel& model, Executor& executor,
         log::Sink& log, const RunOptions& options)
      : machine_(machine),
        source_(source),
        policy_(policy),
        executor_(executor),
        log_(log),
        options_(options),
        clock_(source.begin(), options.time_scale, options.started),
        inputs_(options.turns, clock_),
        machine_until_(
            inputs_.instant(options.machine_end ? clock_.at(options.machine_end->at - kBeforeMachineEnd) : kNever)),
        controller_(machine, policy, model, log,
                    {options.overrun, [&options](const Job& job) { return grace(job, options.time_scale); },
                     source.zero_time_of_day(), machine_until_, true}),
        base_(event_base_new()),
        wake_(base_.get(), -1, 0, [] {}) {
    INVARIANT(base_ != nullptr, "libevent has no event base");
    if (options.neighbours != nullptr) slowdowns_.emplace(machine, *options.neighbours, executor);
    if (stop_descriptor() >= 0) {  // the loop checks at each turn
      stop_.emplace(base_.get(), stop_descriptor(), EV_READ | EV_PERSIST, [] { clear_stop_descriptor(); });
      stop_->arm();
    }
    if (options.turns != nullptr) executor_.hold();
    executor_.attach(base_.get(), this);
    source_.attach(base_.get());
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override {
    source_.detach();
    executor_.detach();
  }

  RunResult run() {
    if (options_.turns != nullptr) begin_or_go_on(*options_.turns);
    Instant drawn = Instant::min();
    for (;;) {
      if (is_to_leave()) return leave();
      heed_stops();
      source_.tick();
      if (const Instant now = clock_.now(); next_step() <= now) {
        inputs_.begin_turn(now);
        step(now);
      }
      send_orders();
      if (options_.tick && (drawn == Instant::min() || clock_.now() - drawn >= scaled(kTick))) {
        drawn = clock_.now();
        options_.tick(drawn);
      }
      if (is_closed_ && events_.empty()) break;
      if (controller_.idle() && events_.empty() && (stopping_ || source_.done())) break;
      wait();
    }
    if (options_.tick) options_.tick(clock_.now());
    return result_;
  }

  void on_begun(JobId job) override {
    if (const auto found = launched_.find(job); found != launched_.end()) found->second.has_begun = true;
    events_.emplace_back(Begun{job});
  }
  void on_started(JobId job, bool malleable, const std::string& reason) override {
    if (malleable) note_site_works(inputs_.clock());  // ranks of a rigid job may be in MPI_Init still
    events_.emplace_back(Started{job, malleable, clean_line(reason, kLongestReason)});
  }
  void on_resized(JobId job) override {
    events_.emplace_back(Resized{job});
    if (slowdowns_) slowdowns_->move(job);
  }
  void on_suspended(JobId job) override {
    events_.emplace_back(Suspended{job});
    if (slowdowns_ && launched_.contains(job)) slowdowns_->leave(job);
  }
  void on_resumed(JobId job) override {
    events_.emplace_back(Resumed{job});
    if (slowdowns_ && launched_.contains(job)) slowdowns_->come_back(job);
  }
  void on_measured(JobId job, double cpu_use) override { events_.emplace_back(Measured{job, cpu_use}); }
  void on_noted(JobId job, const std::string& text) override {
    notes_.push_back(fmt::format("job {}: {}", number(job), clean_line(text, kLongestReason)));
  }
  void on_site_noted(const std::string& text) override { notes_.push_back(clean_line(text, kLongestReason)); }
  void on_node(const NodeChange& change, const std::string& /*host*/) override {
    NodeChange cleaned{change.node, change.state, change.until, clean_line(change.reason, kLongestReason), ""};
    if (const int times = change.state == NodeState::kDown ? ++downs_[change.node] : 0; times > 1)
      cleaned.reason += fmt::format("{}down {} times in this run", cleaned.reason.empty() ? "" : "; ", times);
    events_.emplace_back(cleaned);
    silent_.erase(change.node);
    if (change.state == NodeState::kSilent) silent_.insert(change.node);
    if (change.state != NodeState::kDown) return;
    awaited_until_ = inputs_.clock() + scaled(options_.nodes_come_back_within);
    std::vector<JobId> unstarted;
    for (const auto& [job, placed] : refused_)
      if (std::ranges::any_of(core_of_ranks(placed.on, machine_, options_.pairing),
                              [&](CoreId core) { return machine_.node_of(core) == change.node; }))
        unstarted.push_back(job);
    for (const JobId job : unstarted) wait_again(job, cleaned.reason);
  }
  void on_ended(JobId job, const JobEnd& end) override {
    const auto found = launched_.find(job);
    if (found == launched_.end()) return;  // its end was not waited for
    if (killing_ && end.outcome == Outcome::kKilled && !found->second.has_begun)
      return on_not_started(job, "its ranks had not been started when the run ended");
    JobEnd cleaned = end;
    cleaned.reason = clean_line(end.reason, kLongestReason);
    const bool is_lost = end.outcome == Outcome::kLost && !stopping_;
    if (is_lost && (source_.on_lost_with_node(job) || options_.requeues_lost)) return wait_again(job, cleaned.reason);
    add_end(job, std::move(cleaned));
  }
  void on_not_started(JobId job, const std::string& reason) override {
    const auto found = launched_.find(job);
    if (found == launched_.end()) return;
    Placed placed = std::move(found->second);
    forget(job);
    // Of orders that it has not answered the controller takes the one that it waits for.
    events_.insert(events_.end(), {Resized{job}, Suspended{job}, Resumed{job}});
    refuse(inputs_.clock(), job, std::move(placed), clean_line(reason, kLongestReason));
  }
  void on_action_failed(JobId job, const std::string& action, const std::string& reason) override {
    events_.emplace_back(ActionFailed{job, clean_line(action, kLongestReason), clean_line(reason, kLongestReason)});
    if (slowdowns_) slowdowns_->stay(job);
  }
  void on_lost(const std::string& reason) override {
    if (!result_.lost.empty()) return;
    result_.lost = clean_line(reason, kLongestReason);
    source_.on_lost();
    while (!refused_.empty()) leave_queue(refused_.begin()->first);
    // A batch system that ends its job signals both sides: the agents may have obeyed first.
    const Outcome outcome = inputs_.stops(stops_so_far()) > 0 ? Outcome::kKilled : Outcome::kFailed;
    for (const JobId job : launched()) add_end(job, {outcome, 0, Verification::kNone, -1, result_.lost});
    begin_to_stop();  // the loop ends the run: no exception may pass through libevent, which calls this
  }
  void on_input(const std::string& input) override { inputs_.add(TurnLog::Kind::kExecutor, input); }

 private:
  // ---- a run whose inputs are kept ----

  void begin_or_go_on(TurnLog& turns) {
    policy_.keep_answers(inputs_);
    const bool goes_on = turns.is_playing();
    while (turns.is_playing()) play(turns.take(), turns);
    if (options_.played_back) options_.played_back();
    stops_before_ = stops_heeded_;
    if (goes_on) note("the run goes on, as its daemon has ended and another one is there");
    if (inputs_.other_answers() > 0)
      note(fmt::format("asked again, the policy has answered otherwise in {}: what it had answered stands",
                       counted(inputs_.other_answers(), "pass", "passes")));
    send_orders();
    executor_.go_on();
  }

  void note(std::string text) {
    inputs_.add(TurnLog::Kind::kNote, text);
    notes_.push_back(std::move(text));
  }

  void play(const TurnLog::Input& input, const TurnLog& turns) {
    using Kind = TurnLog::Kind;
    switch (input.kind) {
      case Kind::kTurn: return step(Instant{Duration{parse_number<std::int64_t>(input.text).value_or(0)}});
      case Kind::kExecutor: return executor_.play(input.text);
      case Kind::kStops: return heed(parse_number<int>(input.text).value_or(0));
      case Kind::kNote: return notes_.push_back(input.text);
      case Kind::kClock:
      case Kind::kSubmit:
      case Kind::kCancel:
      case Kind::kRefusal:
      case Kind::kAnswer:
      case Kind::kStartable: turns.differs("a turn", "another input: " + input.text);
    }
  }

  // With no job that goes on the run ends as any other.
  [[nodiscard]] bool is_to_leave() const {
    return options_.leaves_jobs && stops_asked() > 0 && stop_signal() != SIGINT && stops_heeded_ == stops_before_ &&
           !stopping_ && !launched_.empty();
  }
  RunResult leave() {
    executor_.leave();
    result_.left = true;
    return result_;
  }

  void send_orders() {
    inputs_.secure();
    executor_.release();
  }

  // ---- turns ----

  // When a step would change something; kNever: not before something happens.
  [[nodiscard]] Instant next_step() const {
    const bool has_happened = !events_.empty() || !notes_.empty() || (!result_.lost.empty() && !is_closed_) ||
                              (!stopping_ && !result_.broken_off.empty());
    if (has_happened) return Instant::min();
    Instant next = std::min({controller_.next_timer(), trusted_at_, next_try_, next_look_});
    if (!stopping_) next = std::min({next, source_.next(), source_.next_cancel(), options_.until});
    if (!killing_) next = std::min(next, machine_until_);
    return do_jobs_wait() ? std::min(next, awaited_until_) : next;
  }

  // Everything that has happened since the last turn of the loop counts as one instant.
  void step(Instant now) {
    if (!stopping_ && now >= options_.until) stop(now, "the time set by --until is over", options_.stop_reason);
    if (!killing_ && now >= machine_until_) end_with_the_machine(now);
    if (!result_.broken_off.empty() && !stopping_) start_no_more(now);
    if (!stopping_) take_what_is_due(now);
    if (now >= trusted_at_) note_site_works(now);
    if (now >= next_try_) try_again(now);
    if (now >= next_look_) look_again(now);
    for (std::string& note : std::exchange(notes_, {})) log_.record({now, log::Note{std::move(note)}});
    if (!result_.lost.empty() && !std::exchange(is_closed_, true))
      static_cast<void>(controller_.interrupt(now, stop_reason_));  // cancels waiting jobs, so that no end starts one
    if (events_.empty() && controller_.next_timer() > now) return note_jobs_that_wait_for_ever(now);
    inputs_.secure();  // before anything of it is in the event log
    std::vector<Event> batch;
    batch.swap(events_);
    const Orders orders = controller_.handle(now, batch);
    inputs_.secure();  // the answers of a policy: ends may go into a journal
    source_.forget_ended();
    carry_out(now, orders);
    note_failure(now);
    note_jobs_that_wait_for_ever(now);
  }

  // Nothing runs, comes or is planned: no event would ever come. The jobs that wait need nodes that are down, or the policy
  // starts none of them.
  [[nodiscard]] bool do_jobs_wait() const {
    const bool nothing_comes = !source_.is_open() && controller_.running() == 0 && source_.next() == kNever &&
                               source_.next_cancel() == kNever && events_.empty();
    if (stopping_ || !nothing_comes || !silent_.empty() || !put_off_.empty()) return false;
    if (controller_.waiting() == 0) return controller_.held_back() > 0;  // a timer would change nothing
    return controller_.next_timer() == kNever;
  }

  void note_jobs_that_wait_for_ever(Instant now) {
    if (now < awaited_until_ || !do_jobs_wait()) return;
    if (controller_.waiting() == 0) return cancel_held_back(now);
    result_.fault = fmt::format("nothing runs, and the policy starts none of the {} that wait",
                                counted(controller_.waiting(), "job"));
    stop(now, "the policy has failed: " + result_.fault, "the policy has failed");
  }

  void cancel_held_back(Instant now) {
    const std::vector<JobId> cancelled = controller_.cancel_held_back(now);
    if (cancelled.empty()) return;
    for (const JobId job : cancelled) source_.on_end(job, now), ++result_.ended;
    result_.broken_off = held_back_text(cancelled.size());
  }

  // After a failure the policy is not called any more: the run ends as if it were interrupted.
  void note_failure(Instant now) {
    if (!controller_.failure() || !result_.fault.empty()) return;
    try {
      std::rethrow_exception(controller_.failure());
    } catch (const PolicyError& error) {
      result_.fault = error.what();
    }
    stop(now, "the policy has failed: " + clean_line(result_.fault, kLongestReason), "the policy has failed");
  }

  void take_what_is_due(Instant now) {
    while (const TracedJob* job = inputs_.take(source_, now)) events_.emplace_back(Submit{job});
    while (const auto job = inputs_.take_cancel(source_, now)) {
      events_.emplace_back(Cancel{*job});
      if (launched_.contains(*job) || refused_.contains(*job))
        continue;  // the controller has it killed: its end follows
      put_off_.erase(*job);
      source_.on_end(*job, now);
      ++result_.ended;
    }
  }

  void carry_out(Instant now, Orders orders) {
    now_ = now;
    for (const Order& order : std::vector<Order>{orders.begin(), orders.end()})
      std::visit([this](const auto& o) { apply(o); }, order);
  }

  // Waits until something happens, the next arrival or timer is due, or the view is to be drawn.
  void wait() {
    const Instant next = next_step();
    auto wait = next == kNever ? std::chrono::microseconds{1h} : clock_.until(std::max(next, clock_.now()));
    if (options_.tick) wait = std::min<std::chrono::microseconds>(wait, kTick);
    wake_.arm_after(std::min<std::chrono::microseconds>(wait, 1h));
    event_base_loop(base_.get(), EVLOOP_ONCE);
  }

  void end_with_the_machine(Instant now) {
    const std::string why = fmt::format("{} is {} s away", options_.machine_end->what, kBeforeMachineEnd.count());
    result_.interrupted = true;
    if (result_.broken_off.empty()) result_.broken_off = why;
    stop(now, why, options_.stop_reason);
  }

  [[nodiscard]] int stops_so_far() const { return stops_before_ + stops_asked(); }

  void heed_stops() {
    if (const int asked = stops_so_far(); asked != stops_heeded_) heed(inputs_.stops(asked));
  }
  void heed(int asked) {
    if (stops_heeded_ == 0) {
      result_.interrupted = true;
      stop(inputs_.clock(), "interrupted", options_.stop_reason);
      executor_.hurry();
    }
    if (stops_heeded_ < 2 && asked >= 2)
      for (const auto& [job, placed] : launched_) executor_.end(job, Outcome::kKilled);  // the second stop: SIGKILL
    if (stops_heeded_ < 3 && asked >= 3) abandon();
    stops_heeded_ = asked;
  }

  void abandon() {
    result_.abandoned = true;
    for (const JobId job : launched())
      add_end(job, {Outcome::kKilled, 0, Verification::kNone, -1, "its end was not waited for"});
  }

  void stop(Instant now, std::string note, const std::string& reason) {
    if (std::exchange(killing_, true) || !result_.lost.empty()) return;
    begin_to_stop();
    log_.record({now, log::Note{std::move(note)}});
    stop_reason_ = reason;
    carry_out(now, controller_.interrupt(now, reason));
  }

  // Of jobs that were to wait again nothing would come any more.
  void begin_to_stop() {
    if (std::exchange(stopping_, true)) return;
    source_.close();
    next_look_ = kNever;
    for (const Event& event : std::exchange(events_, {}))
      if (const auto* again = std::get_if<Requeue>(&event)) {
        add_end(again->job, {Outcome::kLost, 0, Verification::kNone, -1, again->reason});
      } else if (const auto* put_off = std::get_if<PutOff>(&event)) {
        events_.emplace_back(StartDelayed{put_off->job, Duration::zero(), put_off->reason});
        leave_queue(put_off->job);
      } else {
        events_.push_back(event);
      }
  }

  void start_no_more(Instant now) {
    begin_to_stop();
    const std::string reason = fmt::format("no further job is started: {}", result_.broken_off);
    log_.record({now, log::Note{reason}});
    controller_.cancel_waiting(now, reason);
  }

  void apply(const order::Launch& order) {
    Placed placed{.on = order.allocation, .paid_until = now_};
    if (next_try_ != kNever)
      put_off(order.job, std::move(placed));
    else
      launch(order.job, std::move(placed));
  }
  void apply(const order::Resize& order) {
    if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
      refused->second.on = order.allocation;
      events_.emplace_back(Resized{order.job});
      return;
    }
    if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.on = order.allocation;
    executor_.resize(order.job, core_of_ranks(order.allocation, machine_, options_.pairing));
    if (slowdowns_) slowdowns_->order_move(order.job, order.allocation);
  }
  void apply(const order::Suspend& order) {
    if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
      refused->second.is_asleep = true;
      events_.emplace_back(Suspended{order.job});
      return;
    }
    if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.is_asleep = true;
    executor_.suspend(order.job);
  }
  void apply(const order::Resume& order) {
    if (const auto refused = refused_.find(order.job); refused != refused_.end()) {
      refused->second.is_asleep = false;
      events_.emplace_back(Resumed{order.job});
      next_try_ = std::min(next_try_, now_ + scaled(options_.between_tries));
      return;
    }
    if (const auto job = launched_.find(order.job); job != launched_.end()) job->second.is_asleep = false;
    executor_.resume(order.job);
  }
  void apply(const order::End& order) {
    if (refused_.contains(order.job) && killing_ && order.outcome == Outcome::kKilled)
      leave_queue(order.job);
    else if (refused_.contains(order.job))
      add_end(order.job, {order.outcome, 0, Verification::kNone, -1, "it could not be started: " + site_fault_});
    else if (const auto job = launched_.find(order.job); job != launched_.end()) {
      job->second.ending = order.outcome;
      executor_.end(order.job, order.outcome);
    }
  }

  // ---- launches, and what the site refuses ----

  // A job that the controller has launched. One that the site refused to start keeps its cores until it can be started.
  struct Placed {
    Allocation on;
    Instant paid_until;  // its estimated end allows for a start then
    bool has_begun = false;
    bool is_asleep = false;
    std::optional<Outcome> ending{};  // it has been told to end
    std::string told{};               // why it was refused, in the event log
  };

  void launch(JobId job, Placed placed) {
    LaunchOrder launch;
    try {
      if (!result_.broken_off.empty()) throw CannotStartJobs(result_.broken_off);
      const TracedJob& traced = source_.job(job);
      const ProcessCount processes = processes_on(placed.on, traced.job.processes);
      launch = inputs_.order(job, [&] {
        if (const std::string why = inputs_.are_played_back() ? "" : source_.why_not_startable(job); !why.empty())
          throw NotStartable(why);
        return options_.order(traced, processes);
      });
    } catch (const TurnLogDiffers&) {
      throw;
    } catch (const NotStartable& error) {
      return stopping_ ? refuse(now_, job, std::move(placed), error.what()) : put_off_alone(job, error.what());
    } catch (const CannotStartJobs& error) {
      return refuse(now_, job, std::move(placed), clean_line(error.what(), kLongestReason));
    } catch (const std::exception& error) {
      return add_end(job, {Outcome::kFailed, 0, Verification::kNone, -1, clean_line(error.what(), kLongestReason)});
    }
    launch.job = job;
    launch.core_of_rank = core_of_ranks(placed.on, machine_, options_.pairing);
    placed.has_begun = false;
    launched_.insert_or_assign(job, std::move(placed));
    executor_.launch(launch);
    if (const auto placed_now = launched_.find(job); slowdowns_ && placed_now != launched_.end())
      slowdowns_->come(source_.job(job), placed_now->second.on);
  }

  void refuse(Instant now, JobId job, Placed placed, const std::string& reason) {
    trusted_at_ = kNever;
    const bool goes_on = source_.on_not_started(job, reason);
    if (killing_ && placed.ending.value_or(Outcome::kKilled) == Outcome::kKilled) {
      events_.emplace_back(StartDelayed{job, Duration::zero(), reason});
      return leave_queue(job);
    }
    if (stopping_ || placed.ending || !goes_on) {
      if (!goes_on && !killing_) result_.broken_off = reason;
      return add_end(job, {placed.ending.value_or(Outcome::kFailed), 0, Verification::kNone, -1, reason});
    }
    if (next_try_ == kNever) next_try_ = now + scaled(options_.between_tries);
    if (site_fault_.empty()) log_.record({now, log::Note{"no job can be started, which is tried again: " + reason}});
    site_fault_ = reason;
    put_off(job, std::move(placed));
  }

  void put_off(JobId job, Placed placed) {
    const Duration longer = next_try_ - std::exchange(placed.paid_until, next_try_);
    const bool is_told = std::exchange(placed.told, site_fault_) == site_fault_;
    events_.emplace_back(StartDelayed{job, longer, is_told ? "" : site_fault_});
    refused_.insert_or_assign(job, std::move(placed));
  }

  void put_off_alone(JobId job, std::string why) {
    forget(job);
    put_off_.insert(job);
    next_look_ = std::min(next_look_, now_ + scaled(options_.between_tries));
    events_.emplace_back(PutOff{job, std::move(why)});
  }

  void look_again(Instant now) {
    std::erase_if(put_off_, [this](JobId job) {
      const bool can_start = inputs_.is_startable(source_, job);
      if (can_start) events_.emplace_back(PutBack{job});
      return can_start;
    });
    next_look_ = put_off_.empty() ? kNever : now + scaled(options_.between_tries);
  }

  // One that the policy has suspended meanwhile is not started before it is resumed.
  void try_again(Instant now) {
    now_ = now;
    next_try_ = kNever;
    trusted_at_ = now + scaled(options_.between_tries / 10);  // a refusal comes at once
    std::map<JobId, Placed> refused;
    refused.swap(refused_);
    for (auto& [job, placed] : refused)
      if (placed.is_asleep)
        refused_.insert_or_assign(job, std::move(placed));
      else
        launch(job, std::move(placed));
  }

  void note_site_works(Instant now) {
    trusted_at_ = kNever;
    if (site_fault_.empty() || next_try_ != kNever) return;
    site_fault_.clear();
    log_.record({now, log::Note{"jobs can be started again"}});
    source_.on_site_works();
  }

  [[nodiscard]] std::vector<JobId> launched() const {
    std::vector<JobId> jobs;
    for (const auto& [job, placed] : launched_) jobs.push_back(job);
    return jobs;
  }

  // A job that the site has not started has not run: where the run ends, its end is that of a job that waits.
  void leave_queue(JobId job) { add_end(job, {Outcome::kCancelled, 0, Verification::kNone, -1, stop_reason_}); }

  void forget(JobId job) {
    launched_.erase(job);
    refused_.erase(job);
    put_off_.erase(job);
    if (slowdowns_) slowdowns_->forget(job);
  }

  void wait_again(JobId job, const std::string& reason) {
    forget(job);
    events_.emplace_back(Requeue{job, reason});
  }

  void add_end(JobId job, JobEnd end) {
    forget(job);
    source_.on_end(job, inputs_.clock());
    ++result_.ended;
    events_.emplace_back(Finish{job, std::move(end)});
  }

  Duration scaled(Duration real) const {
    return Duration{std::llround(static_cast<double>(real.count()) / options_.time_scale)};
  }

  const Machine& machine_;
  JobSource& source_;
  Policy& policy_;
  Executor& executor_;
  log::Sink& log_;
  const RunOptions& options_;
  TraceClock clock_;
  RunInputs inputs_;
  Instant machine_until_;  // the run ends then
  Controller controller_;
  EventBase base_;
  LoopEvent wake_;
  std::optional<LoopEvent> stop_;  // none: stop signals are not heeded
  Instant now_{};                  // of the orders that are carried out
  std::map<JobId, Placed> launched_;
  std::map<JobId, Placed> refused_;  // by the site; not at the executor
  std::string site_fault_;           // the site's last refusal; empty: jobs can be started, as far as is known
  Instant next_try_ = kNever;        // of refused_
  std::set<JobId> put_off_;          // jobs that cannot be started, and hold no cores
  Instant next_look_ = kNever;       // at put_off_
  Instant trusted_at_ = kNever;      // when the site works, if it refuses nothing until then
  std::optional<EmulatedSlowdowns> slowdowns_;
  std::set<NodeId> silent_;
  std::map<NodeId, int> downs_;             // how often
  Instant awaited_until_ = Instant::min();  // nodes that are down may come back until then
  std::vector<Event> events_;
  std::string stop_reason_{options_.stop_reason};  // of jobs that wait
  std::vector<std::string> notes_;                 // for the log, as soon as no callback of libevent is on the stack
  int stops_before_ = 0;                           // of the daemons before this one
  int stops_heeded_ = 0;
  bool stopping_ = false;   // no job is taken from the source any more
  bool killing_ = false;    // the jobs that ran have been ended, too
  bool is_closed_ = false;  // the executor was lost, and the controller was told
  RunResult result_;
};

}  // namespace

Duration grace(const Job& job, double time_scale) {
  const Duration real = kLaunchCost + number(job.processes) * kLaunchCostPerProcess;
  const auto to_trace = [time_scale](Duration d) { return static_cast<double>(d.count()) / time_scale; };
  const double share = static_cast<double>(job.estimate.count()) / 20;
  return Duration{std::llround(std::max(share, to_trace(kLeastGrace)) + to_trace(real))};
}

RunResult run(const Machine& machine, JobSource& source, Policy& policy, const RuntimeModel& model, Executor& executor,
              log::Sink& log, const RunOptions& options) {
  INVARIANT(machine.names_cores(), "a real run needs cores with names");
  INVARIANT(options.time_scale > 0, "time scale {}", options.time_scale);
  return Engine{machine, source, policy, model, executor, log, options}.run();
}

}  // namespace replay::live
