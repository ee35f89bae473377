// Part of Controller: checks the policy's decisions against the plan, enters them in it and logs them.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"
#include "scheduler/core/placement_check.hpp"
#include "scheduler/model/job_sizes.hpp"

namespace replay {
void Controller::adopt(Start& decision) {
  Known* const known = jobs_.find(decision.job);
  if (known == nullptr || known->started != nullptr)
    throw PolicyError(fmt::format("the policy starts job {}, which does not wait", number(decision.job)));
  const Job& declared = *known->declared;
  const ProcessCount processes = processes_of(declared, decision.allocation);
  if (machine_.names_cores() && decision.allocation.named.empty()) {
    if (auto place = cores_.planned().place(processes, decision.allocation.mpl)) {
      place->shareable = decision.allocation.shareable;
      decision.allocation = std::move(*place);
    }
  }
  decision.allocation.processes = processes == declared.processes ? 0 : processes;
  if (!can_be_taken(declared, decision.allocation, cores_.planned(), machine_))
    throw PolicyError(refusal("starts", declared, decision.allocation, cores_.planned(), machine_));
  cores_.plan(decision.allocation);
  waiting_.remove(declared);
  RunningJob running;
  running.job = &declared;
  running.started = now_;
  running.start_order = starts_++;
  running.estimate = estimate_at(declared, processes);
  running.budget = Progress{running.estimate, now_, rate_(declared, decision.allocation, {})};
  running.estimated_end = running.budget.end();
  running.malleable = processes > 1 && declared.flexibility == Flexibility::kMalleable;
  running.cpu_use = declared.declared.cpu_use;
  running.allocation = decision.allocation;
  Managed& started = managed_.take();
  started.begin(running_.insert(std::move(running)));
  known->started = &started;
  write<log::StartDecided>(decision.job, std::move(decision.allocation), decision.choice);
  want_change(started);
}

void Controller::adopt(Resize& decision) {
  Managed& job = running_job(decision.job, "resizes");
  RunningJob& running = *job.running;
  if (machine_.names_cores() && decision.allocation.named.empty())
    if (auto place = cores_.planned().at_level(running.allocation, running.processes(), decision.allocation.mpl))
      decision.allocation = std::move(*place);
  decision.allocation.processes = running.allocation.processes;
  cores_.give_up(running.allocation);
  const bool fits = can_be_taken(*running.job, decision.allocation, cores_.planned(), machine_) ||
                    (resizes_to_any_size_ && can_be_resized(*running.job, decision.allocation, cores_.planned()));
  if (!fits) {
    const PolicyError refused(refusal("resizes", *running.job, decision.allocation, cores_.planned(), machine_));
    cores_.plan(running.allocation);
    throw refused;
  }
  cores_.plan(running.allocation);
  if (decision.allocation.shareable != running.allocation.shareable)
    throw PolicyError(fmt::format("the policy resizes job {} and changes whether it shares its cores: that is for life",
                                  number(decision.job)));
  if (!ranks_keep_their_nodes(running.allocation, decision.allocation, machine_))
    throw PolicyError(
        fmt::format("the policy resizes job {} and moves processes of it to another node", number(decision.job)));
  cores_.give_up(running.allocation);
  cores_.plan(decision.allocation);
  running.allocation = decision.allocation;
  running_.note_disturbance();
  write<log::ResizeDecided>(decision.job, std::move(decision.allocation));
  if (!job.holding.is_moving()) want_change(job);
}

void Controller::adopt(Suspend& decision) {
  Managed& job = running_job(decision.job, "suspends");
  INVARIANT(!job.running->suspended, "job {} is suspended twice", number(decision.job));
  cores_.give_up(job.running->allocation);
  job.running->suspended = true;
  running_.note_disturbance();
  write<log::SuspendDecided>(decision.job);
  want_change(job);
}

void Controller::adopt(Resume& decision) {
  Managed* job = started(decision.job);
  if (job == nullptr || !job->running->suspended || job->running->gone_in_plan)
    throw PolicyError(fmt::format("the policy resumes job {}, which is not suspended", number(decision.job)));
  if (!cores_.planned().has_room(job->running->allocation))
    throw PolicyError(refusal("resumes", *job->running->job, job->running->allocation, cores_.planned(), machine_));
  cores_.plan(job->running->allocation);
  job->running->suspended = false;
  running_.note_disturbance();
  write<log::ResumeDecided>(decision.job);
  want_change(*job);
}

void Controller::adopt(Kill& decision) {
  Managed* job = started(decision.job);
  if (job == nullptr)
    throw PolicyError(fmt::format("the policy kills job {}, which does not run", number(decision.job)));
  if (job->kill_sent) return;
  write<log::KillDecided>(decision.job, decision.reason);
  if (!job->running->launched) {
    apply(Finish{decision.job, {outcome_of(decision.reason), 0, Verification::kNone, -1, "killed before its launch"}});
    return;
  }
  job->kill_sent = true;
  leave_plan(*job);
  orders_.emplace_back(order::End{decision.job, outcome_of(decision.reason)});
}

void Controller::adopt(Extend& decision) {
  Managed& job = running_job(decision.job, "extends");
  job.running->estimate += decision.by;
  job.running->budget.add(decision.by);
  running_.set_estimated_end(*job.running, job.running->budget.end());
  write<log::Extended>(decision.job, job.running->estimate);
}

void Controller::adopt(WakeAt& decision) {
  if (decision.at <= now_) return;
  const auto place = std::ranges::lower_bound(wakes_, decision.at, std::greater{});
  if (place == wakes_.end() || *place != decision.at) wakes_.insert(place, decision.at);
}

void Controller::adopt(Note& decision) { write<log::Note>(std::move(decision.text)); }

Controller::Managed& Controller::running_job(JobId id, const char* action) {
  Managed* job = started(id);
  if (job == nullptr || job->running->gone_in_plan || job->running->suspended)
    throw PolicyError(fmt::format("the policy {} job {}, which does not run", action, number(id)));
  return *job;
}

}  // namespace replay
