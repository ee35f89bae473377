#include "scheduler/live/engine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
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
#include "scheduler/live/adoption.hpp"
#include "scheduler/live/order_keeper.hpp"
#include "scheduler/live/run_inputs.hpp"
#include "scheduler/live/started_jobs.hpp"
#include "scheduler/live/trace_clock.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::live {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLaunchCost = 500ms;           // of a small job, with room to spare
constexpr Duration kLaunchCostPerProcess = 20ms;  // start-up grows with the ranks
constexpr Duration kLeastGrace = 2s;
constexpr Duration kTick = 100ms;
constexpr const char* kGoesOn = "the run goes on, as its daemon has ended and another one is there";

// Now, or when the run that goes on began.
std::chrono::steady_clock::time_point begin_of(const RunOptions& options) {
  const auto now = std::chrono::steady_clock::now();
  if (options.turns == nullptr) return now;
  const auto since = std::chrono::floor<std::chrono::microseconds>(now - options.started);
  return options.started + std::chrono::microseconds{options.turns->reading(TurnLog::Kind::kClock, since.count())};
}

class Engine final : public ExecutorListener {
 public:
  Engine(const Machine& machine, JobSource& source, Policy& policy, const RuntimeModel& model, Executor& executor,
         log::Sink& log, const RunOptions& options)
      : machine_(machine),
        source_(source),
        policy_(policy),
        options_(options),
        clock_(source.begin(), options.time_scale, begin_of(options)),
        inputs_(options.turns, clock_, options.answers_stand),
        executor_(executor, inputs_),
        log_(log, inputs_),
        run_{.stop_reason = options.stop_reason},
        jobs_(machine, source, executor_, log_, options, inputs_, run_),
        machine_until_(
            inputs_.instant(options.machine_end ? clock_.at(options.machine_end->at - kBeforeMachineEnd) : kNever)),
        controller_(machine, policy, model, log_,
                    {options.overrun, [&options](const Job& job) { return grace(job, options.time_scale); },
                     source.zero_time_of_day(), machine_until_, true}),
        base_(event_base_new()),
        wake_(base_.get(), -1, 0, [] {}) {
    INVARIANT(base_ != nullptr, "libevent has no event base");
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
      if (is_closed_ && run_.events.empty()) break;
      if (controller_.idle() && run_.events.empty() && (run_.is_stopping || source_.done())) break;
      wait();
    }
    if (options_.turns != nullptr) run_.result.first_stop = options_.turns->first_stop();
    if (options_.tick) options_.tick(clock_.now());
    return run_.result;
  }
  RunResult run_or_leave() {
    try {
      return run();
    } catch (const StoppedWithoutDisk& stopped) {
      run_.result.not_kept = stopped.what();
      return leave();
    }
  }

  void on_begun(JobId job) override { jobs_.on_begun(job); }
  void on_started(JobId job, bool malleable, const std::string& reason) override {
    guarded([&] { jobs_.on_started(malleable); });
    run_.events.emplace_back(Started{job, malleable, clean_line(reason, kLongestReason)});
  }
  void on_resized(JobId job) override { jobs_.on_resized(job); }
  void on_suspended(JobId job) override { jobs_.on_suspended(job); }
  void on_resumed(JobId job) override { jobs_.on_resumed(job); }
  void on_measured(JobId job, double cpu_use) override { run_.events.emplace_back(Measured{job, cpu_use}); }
  void on_noted(JobId job, const std::string& text) override {
    notes_.push_back(fmt::format("job {}: {}", number(job), clean_line(text, kLongestReason)));
  }
  void on_site_noted(const std::string& text) override {
    notes_.push_back(clean_line(text, kLongestReason));
    jobs_.on_site_noted();
  }
  void on_node(const NodeChange& change, const std::string& /*host*/) override {
    NodeChange cleaned{change.node, change.state, change.until, clean_line(change.reason, kLongestReason), ""};
    if (const int times = change.state == NodeState::kDown ? ++downs_[change.node] : 0; times > 1)
      cleaned.reason += fmt::format("{}down {} times in this run", cleaned.reason.empty() ? "" : "; ", times);
    run_.events.emplace_back(cleaned);
    silent_.erase(change.node);
    if (change.state == NodeState::kSilent) silent_.insert(change.node);
    if (change.state != NodeState::kDown) return;
    awaited_until_ = inputs_.clock() + scaled(options_.nodes_come_back_within);
    jobs_.on_node_down(change.node, cleaned.reason);
  }
  void on_ended(JobId job, const JobEnd& end) override {
    JobEnd cleaned = end;
    cleaned.reason = clean_line(end.reason, kLongestReason);
    jobs_.on_ended(job, std::move(cleaned));
  }
  void on_not_started(JobId job, const std::string& reason) override {
    guarded([&] { jobs_.on_not_started(job, clean_line(reason, kLongestReason)); });
  }
  void on_action_failed(JobId job, const std::string& action, const std::string& reason) override {
    run_.events.emplace_back(ActionFailed{job, clean_line(action, kLongestReason), clean_line(reason, kLongestReason)});
    jobs_.on_action_failed(job);
  }
  void on_lost(const std::string& reason) override {
    if (!run_.result.lost.empty()) return;
    run_.result.lost = clean_line(reason, kLongestReason);
    source_.on_lost();
    jobs_.drop_refused();
    // A batch system that ends its job signals both sides: the agents may have obeyed first.
    const Outcome outcome = inputs_.stops(stops_so_far()) > 0 ? Outcome::kKilled : Outcome::kFailed;
    jobs_.end_all({outcome, 0, Verification::kNone, -1, run_.result.lost});
    begin_to_stop();  // the loop ends the run: no exception may pass through libevent, which calls this
  }
  void on_input(const std::string& input) override { inputs_.add(TurnLog::Kind::kExecutor, input); }

 private:
  // ---- a run whose inputs are kept ----

  // No exception may pass through libevent, which calls this: the loop throws it again.
  template <class Call>
  void guarded(Call call) {
    try {
      call();
    } catch (const StoppedWithoutDisk&) {
      stopped_ = std::current_exception();
    }
  }

  void begin_or_go_on(TurnLog& turns) {
    policy_.keep_answers(inputs_);
    if (!turns.before().empty()) adopt(turns.before());
    while (turns.is_playing()) play(turns.take(), turns);
    if (options_.played_back) options_.played_back();
    stops_before_ = stops_heeded_;
    if (turns.goes_on()) note(kGoesOn);
    if (!turns.goes_on() && !options_.adopts.empty()) note(options_.adopts);
    if (inputs_.other_answers() > 0)
      note(fmt::format("asked again, the policy has decided otherwise in {}: what it had answered stands",
                       counted(inputs_.other_answers(), "pass", "passes")));
    send_orders();
    executor_.go_on();
  }

  // Of what the executor has told to the run before, only closed nodes matter to this one.
  void adopt(const std::vector<TurnLog::Input>& before) {
    std::map<JobId, AdoptedJob> jobs;
    for (const TurnLog::Input& input : before)
      if (input.kind == TurnLog::Kind::kAdopt) {
        AdoptedJob job = AdoptedJob::parse(input.text);
        jobs.insert_or_assign(job.job, std::move(job));
      }
    const Instant now = inputs_.clock();
    std::map<JobId, Adopted> events;
    for (const auto& [id, job] : jobs) events.emplace(id, event_of(job, source_.take_again(id, now), now, machine_));
    const auto order = [&](JobId id) {
      return jobs.contains(id) ? options_.order_again(source_.job(id)) : LaunchOrder{};
    };
    for (const TurnLog::Input& input : before)
      if (input.kind != TurnLog::Kind::kAdopt) give_again(executor_.inner(), input, order);
    std::vector<Event> batch;
    for (Event& event : std::exchange(run_.events, {}))
      if (std::holds_alternative<NodeChange>(event)) batch.push_back(std::move(event));
    notes_.clear();
    jobs_.note_absence(Instant::min());
    for (const auto& [id, job] : jobs) {  // first those that have ended: others may be on their cores
      jobs_.adopt(id, events.at(id), job.left);
      if (!job.left.end) {
        batch.emplace_back(events.at(id));
        continue;
      }
      const Event adopted = events.at(id);
      jobs_.carry_out(now, controller_.handle(now, {&adopted, 1}));
      jobs_.on_ended(id, *job.left.end);
      const std::vector<Event> ends = std::exchange(run_.events, {});
      jobs_.carry_out(now, controller_.handle(now, ends));
    }
    const Orders orders = controller_.handle(now, batch);
    inputs_.secure();
    source_.forget_ended();
    jobs_.carry_out(now, orders);
    note_failure(now);
    for (const auto& [id, job] : jobs)
      if (job.left.is_asleep && !job.left.end) executor_.resume(id);
  }

  void note(const std::string& text) {
    inputs_.add(TurnLog::Kind::kNote, text);
    take_note(text);
  }
  void take_note(const std::string& text) {
    if (text == kGoesOn) jobs_.note_absence(last_step_);
    notes_.push_back(text);
  }

  void play(const TurnLog::Input& input, const TurnLog& turns) {
    using Kind = TurnLog::Kind;
    switch (input.kind) {
      case Kind::kTurn: return step(Instant{Duration{parse_number<std::int64_t>(input.text).value_or(0)}});
      case Kind::kExecutor: return executor_.play(input.text);
      case Kind::kStops: return heed(parse_number<int>(input.text.substr(0, input.text.find(' '))).value_or(0));
      case Kind::kNote: return take_note(input.text);
      case Kind::kClock:
      case Kind::kSubmit:
      case Kind::kCancel:
      case Kind::kRefusal:
      case Kind::kAnswer:
      case Kind::kStartable:
      case Kind::kOrder:
      case Kind::kAdopt: turns.differs("a turn", "another input: " + input.text);
    }
  }

  // With no job that goes on the run ends as any other.
  [[nodiscard]] bool is_to_leave() const {
    return options_.leaves_jobs && stops_asked() > 0 && stop_signal() != SIGINT && stops_heeded_ == stops_before_ &&
           !run_.is_stopping && jobs_.any();
  }
  RunResult leave() {
    executor_.leave();
    run_.result.left = true;
    return run_.result;
  }

  void send_orders() {
    inputs_.secure();
    executor_.release();
  }

  // ---- turns ----

  // When a step would change something; kNever: not before something happens.
  [[nodiscard]] Instant next_step() const {
    const bool has_happened = !run_.events.empty() || !notes_.empty() || (!run_.result.lost.empty() && !is_closed_) ||
                              (!run_.is_stopping && !run_.result.broken_off.empty());
    if (has_happened) return Instant::min();
    Instant next = std::min(controller_.next_timer(), jobs_.next());
    if (!run_.is_stopping) next = std::min({next, source_.next(), source_.next_cancel(), options_.until});
    if (!run_.is_killing) next = std::min(next, machine_until_);
    return do_jobs_wait() ? std::min(next, awaited_until_) : next;
  }

  // Everything that has happened since the last turn of the loop counts as one instant.
  void step(Instant now) {
    last_step_ = now;
    if (!run_.is_stopping && now >= options_.until) stop(now, "the time set by --until is over", options_.stop_reason);
    if (!run_.is_killing && now >= machine_until_) end_with_the_machine(now);
    if (!run_.result.broken_off.empty() && !run_.is_stopping) start_no_more(now);
    if (!run_.is_stopping) take_what_is_due(now);
    jobs_.turn(now);
    for (std::string& note : std::exchange(notes_, {})) log_.record({now, log::Note{std::move(note)}});
    if (!run_.result.lost.empty() && !std::exchange(is_closed_, true))
      static_cast<void>(
          controller_.interrupt(now, run_.stop_reason));  // cancels waiting jobs, so that no end starts one
    if (run_.events.empty() && controller_.next_timer() > now) return note_jobs_that_wait_for_ever(now);
    std::vector<Event> batch;
    batch.swap(run_.events);
    const Orders orders = controller_.handle(now, batch);
    inputs_.secure();  // the answers of a policy: ends may go into a journal
    source_.forget_ended();
    jobs_.carry_out(now, orders);
    note_failure(now);
    note_jobs_that_wait_for_ever(now);
  }

  // Nothing runs, comes or is planned: no event would ever come. The jobs that wait need nodes that are down, or the policy
  // starts none of them.
  [[nodiscard]] bool do_jobs_wait() const {
    const bool nothing_comes = !source_.is_open() && controller_.running() == 0 && source_.next() == kNever &&
                               source_.next_cancel() == kNever && run_.events.empty();
    if (run_.is_stopping || !nothing_comes || !silent_.empty() || jobs_.any_put_off()) return false;
    if (controller_.waiting() == 0) return controller_.held_back() > 0;  // a timer would change nothing
    return controller_.next_timer() == kNever;
  }

  void note_jobs_that_wait_for_ever(Instant now) {
    if (now < awaited_until_ || !do_jobs_wait()) return;
    if (controller_.waiting() == 0) return cancel_held_back(now);
    run_.result.fault = fmt::format("nothing runs, and the policy starts none of the {} that wait",
                                    counted(controller_.waiting(), "job"));
    stop(now, "the policy has failed: " + run_.result.fault, "the policy has failed");
  }

  void cancel_held_back(Instant now) {
    const std::vector<JobId> cancelled = controller_.cancel_held_back(now);
    if (cancelled.empty()) return;
    for (const JobId job : cancelled) source_.on_end(job, now), ++run_.result.ended;
    run_.result.broken_off = held_back_text(cancelled.size());
  }

  // After a failure the policy is not called any more: the run ends as if it were interrupted.
  void note_failure(Instant now) {
    if (!controller_.failure() || !run_.result.fault.empty()) return;
    try {
      std::rethrow_exception(controller_.failure());
    } catch (const PolicyError& error) {
      run_.result.fault = error.what();
    }
    stop(now, "the policy has failed: " + clean_line(run_.result.fault, kLongestReason), "the policy has failed");
  }

  void take_what_is_due(Instant now) {
    while (const TracedJob* job = inputs_.take(source_, now)) run_.events.emplace_back(Submit{job});
    while (const auto job = inputs_.take_cancel(source_, now)) {
      run_.events.emplace_back(Cancel{*job});
      jobs_.cancel(*job, now);
    }
  }

  // Waits until something happens, the next arrival or timer is due, or the view is to be drawn.
  void wait() {
    const Instant next = next_step();
    auto wait = next == kNever ? std::chrono::microseconds{1h} : clock_.until(std::max(next, clock_.now()));
    if (options_.tick) wait = std::min<std::chrono::microseconds>(wait, kTick);
    wake_.arm_after(std::min<std::chrono::microseconds>(wait, 1h));
    event_base_loop(base_.get(), EVLOOP_ONCE);
    if (stopped_) std::rethrow_exception(stopped_);
  }

  void end_with_the_machine(Instant now) {
    const std::string why = fmt::format("{} is {} s away", options_.machine_end->what, kBeforeMachineEnd.count());
    run_.result.interrupted = true;
    if (run_.result.broken_off.empty()) run_.result.broken_off = why;
    stop(now, why, options_.stop_reason);
  }

  [[nodiscard]] int stops_so_far() const { return stops_before_ + stops_asked(); }

  void heed_stops() {
    if (const int asked = stops_so_far(); asked != stops_heeded_) heed(inputs_.stops(asked));
  }
  void heed(int asked) {
    if (stops_heeded_ == 0) {
      run_.result.interrupted = true;
      stop(inputs_.clock(), "interrupted", options_.stop_reason);
      executor_.hurry();
    }
    if (stops_heeded_ < 2 && asked >= 2) jobs_.kill();
    if (stops_heeded_ < 3 && asked >= 3) abandon();
    stops_heeded_ = asked;
  }

  void abandon() {
    run_.result.abandoned = true;
    jobs_.end_all({Outcome::kKilled, 0, Verification::kNone, -1, "its end was not waited for"});
  }

  void stop(Instant now, std::string note, const std::string& reason) {
    if (std::exchange(run_.is_killing, true) || !run_.result.lost.empty()) return;
    begin_to_stop();
    log_.record({now, log::Note{std::move(note)}});
    run_.stop_reason = reason;
    jobs_.carry_out(now, controller_.interrupt(now, reason));
  }

  // Of jobs that were to wait again nothing would come any more.
  void begin_to_stop() {
    if (std::exchange(run_.is_stopping, true)) return;
    source_.close();
    jobs_.begin_to_stop();
  }

  void start_no_more(Instant now) {
    begin_to_stop();
    const std::string reason = fmt::format("no further job is started: {}", run_.result.broken_off);
    log_.record({now, log::Note{reason}});
    controller_.cancel_waiting(now, reason);
  }

  Duration scaled(Duration real) const {
    return Duration{std::llround(static_cast<double>(real.count()) / options_.time_scale)};
  }

  const Machine& machine_;
  JobSource& source_;
  Policy& policy_;
  const RunOptions& options_;
  TraceClock clock_;
  RunInputs inputs_;
  OrderKeeper executor_;
  LogAfterInputs log_;
  RunState run_;
  StartedJobs jobs_;
  Instant machine_until_;  // the run ends then
  Controller controller_;
  EventBase base_;
  LoopEvent wake_;
  std::optional<LoopEvent> stop_;  // none: stop signals are not heeded
  std::set<NodeId> silent_;
  std::map<NodeId, int> downs_;             // how often
  Instant awaited_until_ = Instant::min();  // nodes that are down may come back until then
  std::vector<std::string> notes_;          // for the log, as soon as no callback of libevent is on the stack
  int stops_before_ = 0;                    // of the daemons before this one
  int stops_heeded_ = 0;
  Instant last_step_ = Instant::min();
  bool is_closed_ = false;      // the executor was lost, and the controller was told
  std::exception_ptr stopped_;  // StoppedWithoutDisk
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
  return Engine{machine, source, policy, model, executor, log, options}.run_or_leave();
}

}  // namespace replay::live
