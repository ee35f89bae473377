// Part of Controller: jobs that another run has started (docs/adr/0035-adopted-jobs.md).
#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"

namespace replay {

// It looks like a job whose every order to be resized is refused, so that no policy has to know more of it. No pass follows:
// other jobs may have to be adopted first.
bool Controller::apply(const Adopted& event) {
  const Job& job = event.traced->job;
  INVARIANT(jobs_.find(job.id) == nullptr, "job {} is adopted, and there already", number(job.id));
  INVARIANT(event.started <= now_, "job {} is adopted before its start", number(job.id));
  write<log::Submitted>(job, event.traced->truth);
  Known& known = jobs_.add(job.id);
  known.declared = &job;
  Managed& started = start(known, event.allocation, processes_on(event.allocation, job.processes));
  RunningJob& running = *started.running;
  running.started = event.started;
  running.estimate = event.estimate;
  running.malleability = Malleability::kRefuses;
  running.budget =
      Progress{std::max(event.left, Duration::zero()), now_, rate_(job, running.allocation, alone_on(machine_))};
  running_.set_estimated_end(running, running.budget.end());
  running_.note_disturbance();
  write<log::StartDecided>(job.id, running.allocation);
  INVARIANT(cores_.launch(started.holding, running.allocation), "job {} is adopted on cores of another one",
            number(job.id));
  started.may_begin = now_;
  running.begun_after = std::min(event.left, Duration::zero());  // its limit is that much nearer
  if (options_.reports_begin && !event.has_begun) running.begun_after = RunningJob::kNotBegun;
  take_step(started, JobStep::kLaunchOrdered);
  write<log::Launched>(job.id, running.allocation, event.started);
  if (event.is_asleep)
    resume_asleep(started);
  else if (shared_.watches(running.allocation))
    on_cores(started);
  if (event.moving_to.cores > 0) move_on(started, event.moving_to);
  if (event.is_ending) take_step(started, JobStep::kKillDecided);
  return false;
}

// The body has the order. Its processes have not left these cores for another job's.
void Controller::resume_asleep(Managed& job) {
  job.running->state.physical = Physical::kResuming;
  job.suspended_at = now_;
  set_rate(job, 0);
  write<log::SuspendDecided>(job.id());
  write<log::SuspendDone>(job.id());
  write<log::ResumeDecided>(job.id());
}

// The other run has given the order.
void Controller::move_on(Managed& job, const Allocation& to) {
  RunningJob& running = *job.running;
  cores_.give_up(running.allocation);
  cores_.plan(to);
  running.allocation = to;
  write<log::ResizeDecided>(job.id(), to);
  INVARIANT(cores_.begin_resize(job.holding, to), "job {} moves to cores of another one", number(job.id()));
  take_step(job, JobStep::kResizeOrdered);
}

}  // namespace replay
