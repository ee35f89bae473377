// Part of Controller: which decision the body can carry out now, which cores jobs hold, and how fast they run there.
#include <utility>
#include <vector>

#include "scheduler/core/controller.hpp"

namespace replay {

void Controller::want_change(Managed& job) {
  if (std::exchange(job.change_pending, true)) return;
  pending_.push_back(&job);
}

// In the order of the decisions. Giving up cores is always possible; taking them has to wait until they are free. On a
// pool, where cores cannot be told apart, no job takes cores before an earlier decision that still waits for them. Nor
// does any before a job that comes back to the cores it had and is resized then: later decisions count on what it gives
// up.
void Controller::issue_what_is_possible() {
  bool somebody_waits = false, one_comes_back_to_others = false;
  std::erase_if(pending_, [&](Managed* job) {
    if (job->kill_sent) return true;  // its end is on the way
    const RunningJob& running = *job->running;
    const bool takes = running.suspended ? false : running.allocation.cores > job->holding.cores().cores;
    if (takes && (one_comes_back_to_others || (somebody_waits && !machine_.names_cores()))) return false;
    bool done = false;
    if (running.suspended) {
      done = true;
      const bool is_changing = job->suspending || job->resuming || job->holding.is_moving();  // the answer comes first
      if (job->running->launched && !job->holding.is_empty() && !is_changing) {
        job->suspending = true;
        orders_.emplace_back(order::Suspend{running.job->id});
      }
    } else if (!job->running->launched) {
      done = try_launch(*job);
    } else if (job->holding.is_empty()) {
      done = try_resume(*job);
      one_comes_back_to_others = one_comes_back_to_others || (!done && running.allocation != job->holding.before());
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
  if (!cores_.launch(job.holding, running.allocation)) return false;
  job.running->launched = true;
  if (running.started != now_) {  // it had to wait for its cores: its budget begins now
    running.budget = Progress{running.estimate, now_, rate_(*running.job, running.allocation, {})};
    running_.set_estimated_end(running, running.budget.end());
  }
  if (shared_.watches(running.allocation)) on_cores(job);
  write<log::Launched>(running.job->id, running.allocation);
  orders_.emplace_back(order::Launch{running.job->id, running.allocation});
  return true;
}

bool Controller::try_resize(Managed& job) {
  const RunningJob& running = *job.running;
  if (job.kill_sent || job.holding.is_moving() || running.allocation == job.holding.cores())
    return true;  // Resized checks it again
  if (!cores_.begin_resize(job.holding, running.allocation)) return false;
  orders_.emplace_back(order::Resize{running.job->id, running.allocation});
  return true;
}

bool Controller::try_resume(Managed& job) {
  if (!cores_.resume(job.holding)) return false;
  job.resuming = true;
  orders_.emplace_back(order::Resume{job.running->job->id});
  return true;
}

void Controller::leave_plan(Managed& job) {
  if (job.running->gone_in_plan) return;
  if (!job.running->suspended) cores_.give_up(job.running->allocation);
  if (job.running->estimated_end > now_) running_.note_disturbance();
  running_.mark_gone_in_plan(*job.running);
}

// REQUIRES: its processes are on the cores that it holds, and on no others.
void Controller::on_cores(Managed& job) {
  const Allocation& on = job.holding.cores();
  shared_.come(
      as_declared(*job.running->job, on), on,
      [this](JobId id, const Allocation& there, const Surroundings& around) { ask_rate_again(id, there, around); });
}

// Leaves the job's own rate to the caller.
void Controller::off_cores(Managed& job) {
  shared_.leave(job.running->job->id,
                [this](JobId id, const Allocation& on, const Surroundings& around) { ask_rate_again(id, on, around); });
}

void Controller::ask_rate_again(JobId id, const Allocation& on, const Surroundings& around) {
  Managed& job = *jobs_.at(id).started;
  const double rate = rate_(*job.running->job, on, around);
  if (rate != job.running->budget.rate()) set_rate(job, rate);
}

void Controller::set_rate(Managed& job, double rate) {
  job.running->budget.change_rate(now_, rate);
  running_.set_estimated_end(*job.running, job.running->budget.end());
}

}  // namespace replay
