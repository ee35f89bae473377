#include "scheduler/core/controller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "scheduler/core/placement_check.hpp"
#include "scheduler/model/error.hpp"

namespace replay {
namespace {

std::int64_t number(JobId id) { return static_cast<std::int64_t>(id); }

// What `to` holds and `from` does not.
Allocation difference(const Allocation& to, const Allocation& from, bool named) {
  Allocation rest;
  rest.shareable = to.shareable;
  if (!named) {
    rest.cores = std::max(0, to.cores - from.cores);
    return rest;
  }
  for (const CoreLoad& load : to.named)
    if (std::ranges::none_of(from.named, [&](const CoreLoad& held) { return held.core == load.core; }))
      rest.named.push_back(load);
  rest.cores = static_cast<CoreCount>(rest.named.size());
  return rest;
}

Instant later(Instant instant, Duration by) { return instant > kNever - by ? kNever : instant + by; }

Outcome outcome_of(KillReason reason) {
  switch (reason) {
    case KillReason::kOverrun: return Outcome::kOverrun;
    case KillReason::kCancelled: return Outcome::kCancelled;
    case KillReason::kPolicy:
    case KillReason::kInterrupted: return Outcome::kKilled;
  }
  return Outcome::kKilled;
}

// Terminations before submissions, or the other way round (docs/adr/0006-pass-rules.md). What only acknowledges comes first.
constexpr int kRanks = 3;
int rank_of(const Event& event, PassRule rule) {
  const bool by_event = rule == PassRule::kEvent;
  if (std::holds_alternative<Finish>(event)) return by_event ? 2 : 1;
  if (std::holds_alternative<Submit>(event)) return by_event ? 1 : 2;
  return 0;
}

}  // namespace

Controller::Controller(const Machine& machine, Policy& policy, DeclaredRate rate, log::Sink& log,
                       ControllerOptions options)
    : machine_(machine),
      policy_(policy),
      rate_(std::move(rate)),
      log_(log),
      options_(std::move(options)),
      pass_rule_(policy.pass_rule()),
      planned_(machine),
      physical_(machine) {}

std::span<const Action> Controller::handle(Instant now, std::span<const Event> events) {
  INVARIANT(now >= now_, "time goes back from {} s to {} s", seconds(now_), seconds(now));
  now_ = now;
  orders_.clear();
  triggers_.clear();
  note_estimates_that_are_over();

  for (int rank = 0; rank < kRanks; ++rank) {
    for (const Event& event : events) {
      if (rank_of(event, pass_rule_) != rank) continue;
      const bool asks = std::visit([this](const auto& e) { return apply(e); }, event);
      if (asks && pass_rule_ == PassRule::kEvent) pass();
    }
  }
  handle_overruns();
  if (wakes_are_due()) triggers_.push_back({TriggerKind::kWake, nullptr});
  if (!triggers_.empty()) pass();
  issue_what_is_possible();
  return orders_;
}

Instant Controller::next_timer() const {
  Instant next = wakes_.empty() ? kNever : *wakes_.begin();
  const auto overrun_of = [this](const RunningJob& job) {
    return options_.grace ? later(job.estimated_end, options_.grace(*job.job)) : job.estimated_end;
  };
  for (const Managed* job : past_estimate_)
    if (!job->kill_sent) next = std::min(next, overrun_of(*job->running));
  for (const RunningJob* job : running_.by_estimated_end()) {
    if (!job->launched) continue;
    next = std::min(next, overrun_of(*job));
    if (!options_.grace) break;  // without grace the first to end is the first to overrun
  }
  return next;
}

std::span<const Action> Controller::interrupt(Instant now) {
  now_ = std::max(now, now_);
  orders_.clear();
  std::vector<JobId> ids;
  jobs_.for_each([&ids](JobId id, const Managed&) { ids.push_back(id); });
  std::ranges::sort(ids);
  for (const JobId id : ids) {
    Managed& job = jobs_.at(id);
    if (job.kill_sent) continue;
    if (job.running != nullptr && job.running->launched) {
      Kill kill{id, KillReason::kInterrupted};
      adopt(kill);
    } else {
      apply(Finish{id, {Outcome::kCancelled, 0, Verification::kNone, -1, "the run was interrupted"}});
    }
  }
  triggers_.clear();
  return orders_;
}

// ---- events ----

bool Controller::apply(const Submit& event) {
  const Job& job = event.traced->job;
  INVARIANT(find(job.id) == nullptr, "job {} is submitted twice", number(job.id));
  write(log::Submitted{job, event.traced->truth});
  if (job.processes > machine_.size()) {
    write(log::Finished{job.id,
                        {Outcome::kRejected, 0, Verification::kNone, -1,
                         fmt::format("needs {} cores, the machine has {}", job.processes, machine_.size())}});
    return false;
  }
  jobs_.add(job.id).traced = event.traced;
  waiting_.insert(job);
  triggers_.push_back({TriggerKind::kSubmit, &job});
  return true;
}

bool Controller::apply(const Finish& event) {
  Managed* job = find(event.job);
  if (job == nullptr) return false;  // a second report of the same end
  const Job* declared = &job->traced->job;
  if (job->running == nullptr) {
    waiting_.remove(*declared);
  } else {
    if (!job->running->gone_in_plan && !job->running->suspended) planned_.release(job->running->allocation);
    if (job->held.cores > 0) {
      off_cores(*job);
      physical_.release(job->held);
    }
    running_.erase(*job->running);
    std::erase(pending_, job);
    std::erase(past_estimate_, job);
  }
  jobs_.erase(event.job);
  write(log::Finished{event.job, event.end});
  triggers_.push_back({TriggerKind::kFinish, declared});
  return true;
}

bool Controller::apply(const Started& event) {
  Managed* job = find(event.job);
  if (job == nullptr || job->running == nullptr) return false;
  write(log::RanksSeen{event.job, event.malleable, event.reason});
  job->running->malleable = job->running->malleable && event.malleable;
  return false;
}

bool Controller::apply(const Resized& event) {
  Managed* job = find(event.job);
  if (job == nullptr || !job->moving_to) return false;
  off_cores(*job);
  physical_.release(difference(job->held, *job->moving_to, machine_.names_cores()));
  job->held = std::move(*job->moving_to);
  job->moving_to.reset();
  write(log::ResizeDone{event.job, job->held});
  on_cores(*job);
  if (!job->kill_sent && job->running->allocation != job->held) want_change(*job);
  return false;
}

bool Controller::apply(const Suspended& event) {
  Managed* job = find(event.job);
  if (job == nullptr || !job->suspending) return false;
  job->suspending = false;
  off_cores(*job);
  physical_.release(job->held);
  job->held_before = std::exchange(job->held, Allocation{});
  set_rate(*job, 0);
  write(log::SuspendDone{event.job});
  if (!job->kill_sent && !job->running->suspended) want_change(*job);  // the plan has resumed it meanwhile
  return false;
}

bool Controller::apply(const Resumed& event) {
  Managed* job = find(event.job);
  if (job == nullptr || !job->resuming) return false;
  job->resuming = false;
  on_cores(*job);
  write(log::ResumeDone{event.job});
  if (!job->kill_sent && job->running->allocation != job->held) want_change(*job);
  return false;
}

bool Controller::apply(const Measured& event) {
  if (Managed* job = find(event.job); job != nullptr && job->running != nullptr) job->running->cpu_use = event.cpu_use;
  return false;
}

bool Controller::apply(const Cancel& event) {
  Managed* job = find(event.job);
  if (job == nullptr || job->kill_sent) return false;
  if (job->running == nullptr || !job->running->launched)
    return apply(Finish{event.job, {Outcome::kCancelled, 0, Verification::kNone, -1, ""}});
  Kill kill{event.job, KillReason::kCancelled};
  adopt(kill);
  return true;
}

// The job stays as it was, physically. Its plan stays as decided: what was promised its cores waits until it ends.
bool Controller::apply(const ActionFailed& event) {
  Managed* job = find(event.job);
  write(log::Failed{event.job, event.action, event.reason});
  if (job == nullptr || job->running == nullptr) return false;
  job->running->malleable = false;
  if (job->moving_to) {
    physical_.release(difference(job->held, job->held_before, machine_.names_cores()));
    job->held = std::move(job->held_before);
    job->moving_to.reset();
  }
  job->suspending = job->resuming = false;
  return false;
}

// ---- time ----

void Controller::note_estimates_that_are_over() {
  std::vector<RunningJob*> over;
  for (RunningJob* running : running_.by_estimated_end()) {
    if (running->estimated_end > now_) break;
    if (running->launched) over.push_back(running);
  }
  for (RunningJob* running : over) {
    Managed& job = jobs_.at(running->job->id);
    if (std::ranges::find(past_estimate_, &job) == past_estimate_.end()) past_estimate_.push_back(&job);
    if (pass_rule_ == PassRule::kEvent && options_.overrun == Overrun::kKill) leave_plan(job);
  }
}

void Controller::handle_overruns() {
  for (std::size_t i = 0; i < past_estimate_.size(); ++i) {
    Managed& job = *past_estimate_[i];
    const Duration grace = options_.grace ? options_.grace(job.traced->job) : Duration::zero();
    if (!job.kill_sent && later(job.running->estimated_end, grace) <= now_) overrun(job);
  }
  std::erase_if(past_estimate_, [this](const Managed* job) { return job->running->estimated_end > now_; });
}

void Controller::overrun(Managed& job) {
  const JobId id = job.traced->job.id;
  Duration more{};
  if (options_.overrun == Overrun::kExtend)
    more = std::max<Duration>(job.traced->job.estimate / 10, std::chrono::seconds{60});
  else if (options_.overrun == Overrun::kPolicy)
    more = policy_.more_time({now_, machine_, planned_, waiting_, running_, triggers_}, *job.running);
  if (more > Duration::zero()) {
    Extend extend{id, more};
    adopt(extend);
  } else {
    Kill kill{id, KillReason::kOverrun};
    adopt(kill);
  }
  triggers_.push_back({TriggerKind::kEstimateReached, &job.traced->job});
  if (pass_rule_ == PassRule::kEvent) pass();
}

bool Controller::wakes_are_due() {
  if (wakes_.empty() || *wakes_.begin() > now_) return false;
  wakes_.erase(wakes_.begin(), wakes_.upper_bound(now_));
  return true;
}

void Controller::pass() {
  decisions_.clear();
  policy_.decide({now_, machine_, planned_, waiting_, running_, triggers_}, decisions_);
  triggers_.clear();
  for (Action& decision : decisions_) std::visit([this](auto& action) { adopt(action); }, decision);
}

// ---- decisions ----

void Controller::adopt(Start& action) {
  Managed* job = find(action.job);
  if (job == nullptr || job->running != nullptr)
    throw PolicyError(fmt::format("the policy starts job {}, which does not wait", number(action.job)));
  const Job& declared = job->traced->job;
  if (machine_.names_cores() && action.allocation.named.empty()) {
    if (auto place = planned_.place(declared.processes, action.allocation.mpl)) {
      place->shareable = action.allocation.shareable;
      action.allocation = std::move(*place);
    }
  }
  if (!can_be_taken(declared, action.allocation, planned_, machine_))
    throw PolicyError(refusal("starts", declared, action.allocation, planned_, machine_));
  planned_.take(action.allocation);
  waiting_.remove(declared);
  RunningJob running;
  running.job = &declared;
  running.started = now_;
  running.start_order = starts_++;
  running.budget = Progress{declared.estimate, now_, rate_(declared, action.allocation, 0)};
  running.estimated_end = running.budget.end();
  running.estimate = declared.estimate;
  running.malleable = declared.can_shrink();
  running.cpu_use = declared.declared.cpu_use;
  running.allocation = action.allocation;
  job->running = &running_.insert(std::move(running));
  write(log::StartDecided{action.job, std::move(action.allocation)});
  want_change(*job);
}

void Controller::adopt(Resize& action) {
  Managed& job = running_job(action.job, "resizes");
  RunningJob& running = *job.running;
  if (machine_.names_cores() && action.allocation.named.empty())
    if (auto place = planned_.at_level(running.allocation, running.job->processes, action.allocation.mpl))
      action.allocation = std::move(*place);
  planned_.release(running.allocation);
  if (!can_be_taken(*running.job, action.allocation, planned_, machine_))
    throw PolicyError(refusal("resizes", *running.job, action.allocation, planned_, machine_));
  if (action.allocation.shareable != running.allocation.shareable)
    throw PolicyError(fmt::format("the policy resizes job {} and changes whether it shares its cores: that is for life",
                                  number(action.job)));
  if (!ranks_keep_their_nodes(running.allocation, action.allocation, machine_))
    throw PolicyError(
        fmt::format("the policy resizes job {} and moves processes of it to another node", number(action.job)));
  planned_.take(action.allocation);
  running.allocation = action.allocation;
  running_.note_disturbance();
  write(log::ResizeDecided{action.job, std::move(action.allocation)});
  if (!job.moving_to) want_change(job);
}

void Controller::adopt(Suspend& action) {
  Managed& job = running_job(action.job, "suspends");
  INVARIANT(!job.running->suspended, "job {} is suspended twice", number(action.job));
  planned_.release(job.running->allocation);
  job.running->suspended = true;
  running_.note_disturbance();
  write(log::SuspendDecided{action.job});
  want_change(job);
}

void Controller::adopt(Resume& action) {
  Managed* job = find(action.job);
  if (job == nullptr || job->running == nullptr || !job->running->suspended || job->running->gone_in_plan)
    throw PolicyError(fmt::format("the policy resumes job {}, which is not suspended", number(action.job)));
  if (!planned_.has_room(job->running->allocation))
    throw PolicyError(refusal("resumes", job->traced->job, job->running->allocation, planned_, machine_));
  planned_.take(job->running->allocation);
  job->running->suspended = false;
  running_.note_disturbance();
  write(log::ResumeDecided{action.job});
  want_change(*job);
}

void Controller::adopt(Kill& action) {
  Managed* job = find(action.job);
  if (job == nullptr || job->running == nullptr)
    throw PolicyError(fmt::format("the policy kills job {}, which does not run", number(action.job)));
  if (job->kill_sent) return;
  write(log::KillDecided{action.job, action.reason});
  if (!job->running->launched) {
    apply(Finish{action.job, {outcome_of(action.reason), 0, Verification::kNone, -1, "killed before its launch"}});
    return;
  }
  job->kill_sent = true;
  leave_plan(*job);
  orders_.emplace_back(action);
}

void Controller::adopt(Extend& action) {
  Managed& job = running_job(action.job, "extends");
  job.running->estimate += action.by;
  job.running->budget.add(action.by);
  running_.set_estimated_end(*job.running, job.running->budget.end());
  write(log::Extended{action.job, job.running->estimate});
}

void Controller::adopt(WakeAt& action) {
  if (action.at > now_) wakes_.insert(action.at);
}

void Controller::adopt(Note& action) { write(log::Note{std::move(action.text)}); }

// ---- from the plan to what the body can do ----

void Controller::want_change(Managed& job) {
  if (std::exchange(job.change_pending, true)) return;
  pending_.push_back(&job);
}

// In the order of the decisions. Giving up cores is always possible; taking them has to wait for whoever leaves them. On
// a pool, where cores cannot be told apart, nobody takes cores before an earlier decision that still waits for them.
void Controller::issue_what_is_possible() {
  bool somebody_waits = false;
  std::erase_if(pending_, [&](Managed* job) {
    if (job->kill_sent) return true;  // its end is on the way
    const RunningJob& running = *job->running;
    const bool takes = running.suspended ? false : running.allocation.cores > job->held.cores;
    if (takes && somebody_waits && !machine_.names_cores()) return false;
    bool done = false;
    if (running.suspended) {
      done = true;
      if (job->running->launched && job->held.cores > 0 && !job->suspending) {
        job->suspending = true;
        orders_.emplace_back(Suspend{running.job->id});
      }
    } else if (!job->running->launched) {
      done = try_launch(*job);
    } else if (job->held.cores == 0) {
      done = try_resume(*job);
    } else {
      done = try_resize(*job);
    }
    if (done) job->change_pending = false;
    somebody_waits = somebody_waits || !done;
    return done;
  });
}

bool Controller::try_launch(Managed& job) {
  RunningJob& running = *job.running;
  if (!physical_.has_room(running.allocation)) return false;
  physical_.take(running.allocation);
  job.held = running.allocation;
  job.running->launched = true;
  if (running.started != now_) {  // it had to wait for its cores: the budget runs from now
    running.budget = Progress{running.estimate, now_, rate_(*running.job, job.held, 0)};
    running_.set_estimated_end(running, running.budget.end());
  }
  if (job.held.shareable) on_cores(job);
  write(log::Launched{running.job->id, job.held});
  orders_.emplace_back(Start{running.job->id, job.held});
  return true;
}

bool Controller::try_resize(Managed& job) {
  const RunningJob& running = *job.running;
  if (job.kill_sent || job.moving_to || running.allocation == job.held) return true;  // Resized comes back to it
  const bool named = machine_.names_cores();
  const Allocation added = difference(running.allocation, job.held, named);
  if (!physical_.has_room(added)) return false;
  physical_.take(added);
  job.held_before = job.held;
  job.held.cores += added.cores;
  job.held.named.insert(job.held.named.end(), added.named.begin(), added.named.end());
  job.moving_to = running.allocation;
  orders_.emplace_back(Resize{running.job->id, running.allocation});
  return true;
}

bool Controller::try_resume(Managed& job) {
  if (!physical_.has_room(job.held_before)) return false;
  physical_.take(job.held_before);
  job.held = job.held_before;
  job.resuming = true;
  orders_.emplace_back(Resume{job.running->job->id});
  return true;
}

void Controller::leave_plan(Managed& job) {
  if (job.running->gone_in_plan) return;
  if (!job.running->suspended) planned_.release(job.running->allocation);
  if (job.running->estimated_end > now_) running_.note_disturbance();
  running_.mark_gone_in_plan(*job.running);
}

// REQUIRES: its processes are on the cores that it holds, and on no others.
void Controller::on_cores(Managed& job) {
  const JobId id = job.traced->job.id;
  if (job.held.shareable) shared_.enter(id, job.held, job.traced->job.declared.cpu_use);
  ask_rate_again(job);
  if (!job.held.shareable) return;
  for (const JobId neighbour : shared_.neighbours(id, job.held)) ask_rate_again(jobs_.at(neighbour));
}

// Its own rate is the caller's business.
void Controller::off_cores(Managed& job) {
  if (!job.held.shareable) return;
  const JobId id = job.traced->job.id;
  const std::vector<JobId> neighbours = shared_.neighbours(id, job.held);
  shared_.leave(id, job.held);
  for (const JobId neighbour : neighbours) ask_rate_again(jobs_.at(neighbour));
}

void Controller::ask_rate_again(Managed& job) {
  const Job& declared = job.traced->job;
  const Allocation& on = job.moving_to ? job.held_before : job.held;  // while it moves, as before
  const double demand = on.shareable ? shared_.demand(declared.id, on, declared.declared.cpu_use) : 0;
  const double rate = rate_(declared, on, demand);
  if (rate != job.running->budget.rate()) set_rate(job, rate);
}

void Controller::set_rate(Managed& job, double rate) {
  job.running->budget.change_rate(now_, rate);
  running_.set_estimated_end(*job.running, job.running->budget.end());
}

Controller::Managed& Controller::running_job(JobId id, const char* action) {
  Managed* job = find(id);
  if (job == nullptr || job->running == nullptr || job->running->gone_in_plan || job->running->suspended)
    throw PolicyError(fmt::format("the policy {} job {}, which does not run", action, number(id)));
  return *job;
}

}  // namespace replay
