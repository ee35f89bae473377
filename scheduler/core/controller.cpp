#include "scheduler/core/controller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

Instant later(Instant instant, Duration by) {
  return by > Duration::zero() && instant > kNever - by ? kNever : instant + by;
}

// Of a node: that it changed, or that a job was lost with it. All of an instant are one event.
bool is_of_node(const Event& event) {
  const auto* const finish = std::get_if<Finish>(&event);
  return std::holds_alternative<NodeChange>(event) || std::holds_alternative<Requeue>(event) ||
         (finish != nullptr && finish->end.outcome == Outcome::kLost);
}

// Jobs that run already first: their cores are none for others. Those of nodes next, changes before losses. Terminations
// before submissions, or the other way round; submissions by number (docs/adr/0006-pass-rules.md). Other events come before
// these.
std::tuple<int, Instant, JobId> place_of(const Event& event, PassRule rule) {
  const bool by_event = rule == PassRule::kEvent;
  if (std::holds_alternative<Adopted>(event)) return {-3, {}, {}};
  if (is_of_node(event)) return {std::holds_alternative<NodeChange>(event) ? -2 : -1, {}, {}};
  if (const auto* const submit = std::get_if<Submit>(&event))
    return {by_event ? 1 : 2, submit->traced->job.submitted, submit->traced->job.id};
  return {std::holds_alternative<Finish>(event) ? (by_event ? 2 : 1) : 0, {}, {}};
}

}  // namespace

Controller::Controller(const Machine& machine, Policy& policy, const RuntimeModel& model, log::Sink& log,
                       ControllerOptions options)
    : machine_(machine),
      policy_(policy),
      rate_(declared_rate(model)),
      log_(log),
      wanted_(log.kinds()),
      options_(std::move(options)),
      pass_rule_(policy.traits().pass_rule),
      chooses_sizes_(policy.traits().chooses_sizes),
      resizes_to_any_size_(model.divides_work_anew() && !machine.names_cores()),
      cores_(machine),
      shared_(machine, model.looks_at_nodes()) {}

Orders Controller::handle(Instant now, std::span<const Event> events) {
  INVARIANT(now >= now_, "time goes back from {} s to {} s", seconds(now_), seconds(now));
  now_ = now;
  orders_.clear();
  triggers_.clear();
  note_estimates_that_are_over();

  if (events.size() == 1) {  // as in most instants of most logs
    take(events.front());
  } else {
    std::vector<const Event*> in_order;
    in_order.reserve(events.size());
    for (const Event& event : events) in_order.push_back(&event);
    std::ranges::stable_sort(in_order, {}, [this](const Event* event) { return place_of(*event, pass_rule_); });
    const auto nodes =
        std::ranges::find_if_not(in_order, [](const Event* event) { return std::holds_alternative<Adopted>(*event); });
    const auto jobs = std::find_if_not(nodes, in_order.end(), [](const Event* event) { return is_of_node(*event); });
    for (auto event = in_order.begin(); event != jobs; ++event) heed(**event);
    if (jobs != nodes) take_in_nodes();
    for (auto event = jobs; event != in_order.end(); ++event) take(**event);
    for (const Event& event : events)  // again, for jobs that were submitted just now; the others have had it
      if (std::holds_alternative<Cancel>(event)) take(event);
  }
  handle_overruns();
  if (wakes_are_due()) triggers_.push_back({TriggerKind::kWake, nullptr});
  if (!triggers_.empty()) pass();
  if (!failure_) issue_what_is_possible();  // after a failure they would be killed at once
  return orders_;
}

bool Controller::heed(const Event& event) {
  return std::visit([this](const auto& e) { return apply(e); }, event);
}

void Controller::take(const Event& event) {
  const bool asks = heed(event);
  if (is_of_node(event)) return take_in_nodes();
  if (asks && pass_rule_ == PassRule::kEvent) pass();
}

Instant Controller::next_timer() const {
  Instant next = wakes_.empty() ? kNever : wakes_.back();
  for (const Managed* job : past_estimate_)
    if (has_time_limit(job->state())) next = std::min(next, limit_of(*job->running));
  for (const RunningJob* job : running_.by_estimated_end()) {
    if (!has_time_limit(job->state)) continue;
    next = std::min(next, limit_of(*job));
    if (!options_.grace && !options_.reports_begin) break;  // the first to end is the first to overrun
  }
  return next;
}

Orders Controller::interrupt(Instant now, const std::string& reason) {
  end_all(now, reason, true);
  return orders_;
}

void Controller::cancel_waiting(Instant now, const std::string& reason) { end_all(now, reason, false); }

void Controller::end_all(Instant now, const std::string& reason, bool with_running) {
  now_ = std::max(now, now_);
  orders_.clear();
  std::vector<JobId> ids;
  jobs_.for_each([&ids](JobId id, const Known&) { ids.push_back(id); });
  std::ranges::sort(ids);
  for (const JobId id : ids) {
    Managed* const job = started(id);
    if (job == nullptr || !job->running->is_launched())
      apply(Finish{id, {Outcome::kCancelled, 0, Verification::kNone, -1, reason}});
    else if (with_running)
      kill(*job, KillReason::kInterrupted);
  }
  triggers_.clear();
}

// ---- events ----

bool Controller::apply(const Submit& event) {
  const Job& job = event.traced->job;
  INVARIANT(jobs_.find(job.id) == nullptr, "job {} is submitted twice", number(job.id));
  write<log::Submitted>(job, event.traced->truth);
  if (cores_needed(job) > machine_.size()) {
    write<log::Finished>(job.id,
                         JobEnd{Outcome::kRejected, 0, Verification::kNone, -1,
                                fmt::format("needs {} cores, the machine has {}", cores_needed(job), machine_.size())});
    return false;
  }
  jobs_.add(job.id).declared = &job;
  return enter_queue(job);
}

bool Controller::apply(const Finish& event) {
  const Known* const known = jobs_.find(event.job);
  if (known == nullptr) return false;  // a second report of the same end
  const Job& declared = *known->declared;
  const bool was_held_back = !held_back_.empty() && std::erase(held_back_, &declared) > 0;
  if (known->started == nullptr)
    waiting_.remove(declared);
  else
    forget_start(*known->started);
  jobs_.erase(event.job);
  write<log::Finished>(event.job, event.end);
  if (!was_held_back) triggers_.push_back({TriggerKind::kFinish, &declared});
  return !was_held_back;
}

// It has no processes, or none any more.
void Controller::forget_start(Managed& job) {
  if (job.state().planned == Planned::kRuns) cores_.give_up(job.running->allocation);
  if (holds_cores(job.state())) {
    off_cores(job);
    cores_.end(job.holding);
  }
  running_.erase(*job.running);
  std::erase(pending_, &job);
  std::erase(past_estimate_, &job);
  managed_.give_back(job);
}

bool Controller::apply(const Begun& event) {
  if (Managed* const job = started(event.job); job != nullptr && !job->running->has_begun())
    job->running->begun_after = now_ - job->may_begin;
  return false;
}

bool Controller::apply(const Started& event) {
  apply(Begun{event.job});
  Managed* job = started(event.job);
  if (job == nullptr || job->running->malleability == Malleability::kRefuses) return false;
  write<log::RanksSeen>(event.job, event.malleable, event.reason);
  RunningJob& running = *job->running;
  const bool was_malleable = running.is_malleable();
  running.malleability =
      event.malleable ? declared_malleability(*running.job, running.processes()) : Malleability::kRigid;
  pin_or_release();
  if (was_malleable || !running.is_malleable() || job->is_being_killed()) return false;
  triggers_.push_back({TriggerKind::kChange, running.job});  // its ranks have registered late
  return true;
}

bool Controller::apply(const Resized& event) {
  Managed* job = started(event.job);
  if (job == nullptr || !take_step(*job, JobStep::kResizeDone)) return false;
  off_cores(*job);
  cores_.end_resize(job->holding);
  write<log::ResizeDone>(event.job, job->holding.cores());
  on_cores(*job);
  want_order(*job);
  return false;
}

bool Controller::apply(const Suspended& event) {
  Managed* job = started(event.job);
  if (job == nullptr || !take_step(*job, JobStep::kSuspendDone)) return false;
  job->suspended_at = now_;
  off_cores(*job);
  cores_.suspend(job->holding);
  set_rate(*job, 0);
  write<log::SuspendDone>(event.job);
  want_order(*job);
  return false;
}

bool Controller::apply(const Resumed& event) {
  Managed* job = started(event.job);
  if (job == nullptr || !take_step(*job, JobStep::kResumeDone)) return false;
  Progress& budget = job->running->budget;
  if (budget.end() <= job->suspended_at) budget = budget.shifted(now_ - job->suspended_at);  // its grace stood still
  job->may_begin += now_ - job->suspended_at;
  on_cores(*job);
  write<log::ResumeDone>(event.job);
  want_order(*job);
  return false;
}

bool Controller::apply(const Measured& event) {
  if (Managed* job = started(event.job); job != nullptr) job->running->cpu_use = event.cpu_use;
  return false;
}

bool Controller::apply(const Cancel& event) {
  Managed* const job = started(event.job);
  if (job == nullptr || !job->running->is_launched())
    return apply(Finish{event.job, {Outcome::kCancelled, 0, Verification::kNone, -1, ""}});
  if (job->is_being_killed()) return false;
  kill(*job, KillReason::kCancelled);
  triggers_.push_back({TriggerKind::kChange, job->running->job});
  return true;
}

// Physically the job stays as it was. The plan stays as decided: jobs that are to get its cores wait until it gives them up,
// at the latest at its end. One that cannot be resumed is killed.
bool Controller::apply(const ActionFailed& event) {
  Managed* job = started(event.job);
  write<log::Failed>(event.job, event.action, event.reason);
  if (job == nullptr) return false;
  job->running->malleability = Malleability::kRefuses;
  const Planned before = job->state().planned;
  const std::optional<JobStep> refusal = refusal_of(event.action);
  if (!refusal || !take_step(*job, *refusal)) return false;
  if (refusal == JobStep::kResizeRefused) cores_.undo_resize(job->holding);
  if (refusal == JobStep::kResumeRefused) cores_.suspend(job->holding);
  want_order(*job);
  if (job->state().planned == before) return false;
  order_end(*job, KillReason::kStuck);
  triggers_.push_back({TriggerKind::kChange, job->running->job});
  return true;
}

// The plan stays as decided.
bool Controller::apply(const StartDelayed& event) {
  Managed* job = started(event.job);
  if (job == nullptr) return false;
  if (!event.reason.empty()) write<log::Failed>(event.job, "start", event.reason);
  if (options_.reports_begin) job->running->begun_after = RunningJob::kNotBegun;
  if (job->state().planned != Planned::kRuns) return false;
  extend(*job, event.by);
  job->may_begin += event.by;
  triggers_.push_back({TriggerKind::kEstimateReached, job->running->job});
  return true;
}

// ---- time ----

Instant Controller::limit_of(const RunningJob& job) const {
  if (!job.has_begun() || options_.overrun == Overrun::kNone) return kNever;
  const Instant end = later(job.estimated_end, job.begun_after);
  return options_.grace ? later(end, options_.grace(*job.job)) : end;
}

void Controller::note_estimates_that_are_over() {
  if (options_.overrun == Overrun::kNone) return;
  over_.clear();
  for (RunningJob* running : running_.by_estimated_end()) {
    if (running->estimated_end > now_) break;
    if (running->has_begun() && has_time_limit(running->state)) over_.push_back(running);
  }
  for (const RunningJob* running : over_) {
    Managed& job = *jobs_.at(running->job->id).started;
    if (std::ranges::find(past_estimate_, &job) == past_estimate_.end()) past_estimate_.push_back(&job);
    if (pass_rule_ == PassRule::kEvent && options_.overrun == Overrun::kKill) take_step(job, JobStep::kEstimateOver);
  }
}

void Controller::handle_overruns() {
  for (std::size_t i = 0; i < past_estimate_.size(); ++i) {
    Managed& job = *past_estimate_[i];
    if (has_time_limit(job.state()) && limit_of(*job.running) <= now_) overrun(job);
  }
  std::erase_if(past_estimate_, [this](const Managed* job) { return job->running->estimated_end > now_; });
}

void Controller::overrun(Managed& job) {
  Duration more{};
  if (options_.overrun == Overrun::kExtend)
    more = std::max<Duration>(job.running->job->estimate / 10, std::chrono::seconds{60});
  else if (options_.overrun == Overrun::kPolicy && !job.running->is_suspended())  // else it runs against the plan
    ask([&] { more = policy_.more_time(view(), *job.running); });
  if (failure_) return;
  if (more > Duration::zero())
    extend(job, more);
  else
    kill(job, KillReason::kOverrun);
  triggers_.push_back({TriggerKind::kEstimateReached, job.running->job});
  if (pass_rule_ == PassRule::kEvent) pass();
}

bool Controller::wakes_are_due() {
  if (wakes_.empty() || wakes_.back() > now_) return false;
  while (!wakes_.empty() && wakes_.back() <= now_) wakes_.pop_back();
  return true;
}

void Controller::pass() {
  decisions_.clear();
  ask([this] { policy_.decide(view(), decisions_); });
  triggers_.clear();
  if (failure_) return;
  try {
    for (Decision& decision : decisions_) std::visit([this](auto& one) { adopt(one); }, decision);
  } catch (const PolicyError&) {
    failure_ = std::current_exception();
  }
}

// All calls of decide() and more_time() go through here. A mistake of the policy ends the run, and not the program.
template <class Question>
void Controller::ask(Question question) {
  if (failure_) return;
  try {
    const InvariantsThrow meanwhile;
    question();
  } catch (const PolicyError&) {
    failure_ = std::current_exception();
  } catch (const BrokenInvariant& broken) {
    failure_ = std::make_exception_ptr(
        PolicyError(fmt::format("the policy is wrong at {} s, please report it: {}", to_text(now_), broken.what())));
  }
}

}  // namespace replay
