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
  decision.allocation.processes = processes == declared.processes ? ProcessCount{0} : processes;
  if (!can_be_taken(declared, decision.allocation, cores_.planned(), machine_) ||
      cores_.planned().is_on_closed(decision.allocation))
    throw PolicyError(refusal("starts", declared, decision.allocation, cores_.planned(), machine_));
  waiting_.remove(declared);
  Managed& started = start(*known, decision.allocation, processes);
  write<log::StartDecided>(decision.job, std::move(decision.allocation), decision.choice);
  pending_.push_back(&started);
}

// Its allocation is taken in the plan; it waits for its launch.
Controller::Managed& Controller::start(Known& known, Allocation on, ProcessCount processes) {
  const Job& declared = *known.declared;
  cores_.plan(on);
  RunningJob running;
  running.job = &declared;
  running.started = now_;
  running.start_order = starts_++;
  running.estimate = estimate_at(declared, processes);
  running.budget = Progress{running.estimate, now_, rate_(declared, on, alone_on(machine_))};
  running.estimated_end = running.budget.end();
  running.malleability = declared_malleability(declared, processes);
  running.cpu_use = declared.declared.cpu_use;
  running.allocation = std::move(on);
  Managed& started = managed_.take();
  started.running = &running_.insert(std::move(running));
  known.started = &started;
  return started;
}

void Controller::adopt(Resize& decision) {
  Managed& job = running_job(decision.job, "resizes");
  RunningJob& running = *job.running;
  if (machine_.names_cores() && decision.allocation.named.empty())
    if (auto place = cores_.planned().at_level(running.allocation, running.processes(), decision.allocation.mpl))
      decision.allocation = std::move(*place);
  decision.allocation.processes = running.allocation.processes;
  if (cores_.planned().is_on_closed(running.allocation) || cores_.planned().is_on_closed(decision.allocation))
    throw PolicyError(fmt::format("the policy resizes job {}, and a node of it is closed", number(decision.job)));
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
  take_step(job, JobStep::kResizeDecided);
  write<log::ResizeDecided>(decision.job, std::move(decision.allocation));
  want_order(job);
}

void Controller::adopt(Suspend& decision) {
  Managed& job = running_job(decision.job, "suspends");
  take_step(job, JobStep::kSuspendDecided);
  write<log::SuspendDecided>(decision.job);
  want_order(job);
}

void Controller::adopt(Resume& decision) {
  Managed* job = started(decision.job);
  if (job == nullptr || !job->running->is_suspended())
    throw PolicyError(fmt::format("the policy resumes job {}, which is not suspended", number(decision.job)));
  if (!cores_.planned().has_room(job->running->allocation))
    throw PolicyError(refusal("resumes", *job->running->job, job->running->allocation, cores_.planned(), machine_));
  take_step(*job, JobStep::kResumeDecided);
  write<log::ResumeDecided>(decision.job);
  want_order(*job);
}

void Controller::adopt(Kill& decision) {
  Managed* job = started(decision.job);
  if (job == nullptr)
    throw PolicyError(fmt::format("the policy kills job {}, which does not run", number(decision.job)));
  kill(*job, decision.reason);
}

void Controller::kill(Managed& job, KillReason reason) {
  if (job.is_being_killed()) return;
  if (job.running->is_launched()) {
    take_step(job, JobStep::kKillDecided);
    order_end(job, reason);
  } else {
    write<log::KillDecided>(job.id(), reason);
    apply(Finish{job.id(), {outcome_of(reason), 0, Verification::kNone, -1, "killed before its launch"}});
  }
}

void Controller::order_end(const Managed& job, KillReason reason) {
  write<log::KillDecided>(job.id(), reason);
  orders_.emplace_back(order::End{job.id(), outcome_of(reason)});
}

void Controller::adopt(Extend& decision) { extend(running_job(decision.job, "extends"), decision.by); }

void Controller::extend(Managed& job, Duration by) {
  RunningJob& running = *job.running;
  running.estimate += by;
  running.budget.add(by);
  running_.set_estimated_end(running, running.budget.end());
  write<log::Extended>(job.id(), running.estimate);
}

void Controller::adopt(WakeAt& decision) {
  if (decision.at <= now_) return;
  const auto place = std::ranges::lower_bound(wakes_, decision.at, std::greater{});
  if (place == wakes_.end() || *place != decision.at) wakes_.insert(place, decision.at);
}

void Controller::adopt(Note& decision) { write<log::Note>(std::move(decision.text)); }

void Controller::adopt(Told& decision) { write<Told>(std::move(decision)); }

Controller::Managed& Controller::running_job(JobId id, const char* action) {
  Managed* job = started(id);
  if (job == nullptr || job->state().planned != Planned::kRuns)
    throw PolicyError(fmt::format("the policy {} job {}, which does not run", action, number(id)));
  return *job;
}

}  // namespace replay
