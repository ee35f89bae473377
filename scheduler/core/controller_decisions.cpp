// Part of Controller: checks the policy's decisions against the plan, enters them in it and logs them.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/core/placement_check.hpp"

namespace replay {
namespace {

Outcome outcome_of(KillReason reason) {
  switch (reason) {
    case KillReason::kOverrun: return Outcome::kOverrun;
    case KillReason::kCancelled: return Outcome::kCancelled;
    case KillReason::kPolicy:
    case KillReason::kInterrupted: return Outcome::kKilled;
  }
  return Outcome::kKilled;
}

}  // namespace

void Controller::adopt(Start& action) {
  Known* const known = jobs_.find(action.job);
  if (known == nullptr || known->started != nullptr)
    throw PolicyError(fmt::format("the policy starts job {}, which does not wait", number(action.job)));
  const Job& declared = *known->declared;
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
  Managed started;
  started.running = &running_.insert(std::move(running));
  known->started = &managed_.take(std::move(started));
  write<log::StartDecided>(action.job, std::move(action.allocation));
  want_change(*known->started);
}

void Controller::adopt(Resize& action) {
  Managed& job = running_job(action.job, "resizes");
  RunningJob& running = *job.running;
  if (machine_.names_cores() && action.allocation.named.empty())
    if (auto place = planned_.at_level(running.allocation, running.job->processes, action.allocation.mpl))
      action.allocation = std::move(*place);
  planned_.release(running.allocation);
  if (!can_be_taken(*running.job, action.allocation, planned_, machine_)) {
    const PolicyError refused(refusal("resizes", *running.job, action.allocation, planned_, machine_));
    planned_.take(running.allocation);
    throw refused;
  }
  planned_.take(running.allocation);
  if (action.allocation.shareable != running.allocation.shareable)
    throw PolicyError(fmt::format("the policy resizes job {} and changes whether it shares its cores: that is for life",
                                  number(action.job)));
  if (!ranks_keep_their_nodes(running.allocation, action.allocation, machine_))
    throw PolicyError(
        fmt::format("the policy resizes job {} and moves processes of it to another node", number(action.job)));
  planned_.release(running.allocation);
  planned_.take(action.allocation);
  running.allocation = action.allocation;
  running_.note_disturbance();
  write<log::ResizeDecided>(action.job, std::move(action.allocation));
  if (!job.moving_to) want_change(job);
}

void Controller::adopt(Suspend& action) {
  Managed& job = running_job(action.job, "suspends");
  INVARIANT(!job.running->suspended, "job {} is suspended twice", number(action.job));
  planned_.release(job.running->allocation);
  job.running->suspended = true;
  running_.note_disturbance();
  write<log::SuspendDecided>(action.job);
  want_change(job);
}

void Controller::adopt(Resume& action) {
  Managed* job = started(action.job);
  if (job == nullptr || !job->running->suspended || job->running->gone_in_plan)
    throw PolicyError(fmt::format("the policy resumes job {}, which is not suspended", number(action.job)));
  if (!planned_.has_room(job->running->allocation))
    throw PolicyError(refusal("resumes", *job->running->job, job->running->allocation, planned_, machine_));
  planned_.take(job->running->allocation);
  job->running->suspended = false;
  running_.note_disturbance();
  write<log::ResumeDecided>(action.job);
  want_change(*job);
}

void Controller::adopt(Kill& action) {
  Managed* job = started(action.job);
  if (job == nullptr) throw PolicyError(fmt::format("the policy kills job {}, which does not run", number(action.job)));
  if (job->kill_sent) return;
  write<log::KillDecided>(action.job, action.reason);
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
  write<log::Extended>(action.job, job.running->estimate);
}

void Controller::adopt(WakeAt& action) {
  if (action.at <= now_) return;
  const auto place = std::ranges::lower_bound(wakes_, action.at, std::greater{});
  if (place == wakes_.end() || *place != action.at) wakes_.insert(place, action.at);
}

void Controller::adopt(Note& action) { write<log::Note>(std::move(action.text)); }

Controller::Managed& Controller::running_job(JobId id, const char* action) {
  Managed* job = started(id);
  if (job == nullptr || job->running->gone_in_plan || job->running->suspended)
    throw PolicyError(fmt::format("the policy {} job {}, which does not run", action, number(id)));
  return *job;
}

}  // namespace replay
