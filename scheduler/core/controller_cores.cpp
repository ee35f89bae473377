// Part of Controller: which decision the body can carry out now, which cores jobs hold, and how fast they run there.
#include <algorithm>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"

namespace replay {

bool Controller::take_step(Managed& job, JobStep step) {
  const std::optional<JobState> next = after(job.state(), step);
  if (!next) return false;
  const Planned before = std::exchange(job.running->state, *next).planned;
  if (next->planned != before) follow_plan(*job.running, before);
  return true;
}

// A job has its cores in the plan while it is to run.
void Controller::follow_plan(RunningJob& job, Planned before) {
  if (before == Planned::kRuns) cores_.give_up(job.allocation);
  if (job.state.planned == Planned::kRuns) cores_.plan(job.allocation);
  if (before >= Planned::kGone) return;
  if (!job.is_gone_in_plan() || job.estimated_end > now_) running_.note_disturbance();
  if (job.is_gone_in_plan()) running_.mark_gone_in_plan(job);
}

void Controller::want_order(Managed& job) {
  const bool is_wanted = is_with_the_body(job.state()) || job.next_order();
  if (is_wanted && std::ranges::find(pending_, &job) == pending_.end()) pending_.push_back(&job);
}

// In the order of the decisions. Giving up cores is always possible; taking them has to wait until they are free. On a
// pool, where cores cannot be told apart, no job takes cores before an earlier decision that still waits for them. Nor
// does any before a job that comes back to the cores it had and is resized then: later decisions count on what it gives
// up.
void Controller::issue_what_is_possible() {
  bool one_waits = false, one_comes_back_to_others = false;
  std::erase_if(pending_, [&](Managed* job) {
    if (is_with_the_body(job->state())) return false;  // the answer comes first, and the job keeps its place
    const std::optional<JobStep> order = job->next_order();
    if (!order) return true;
    const Allocation& planned = job->running->allocation;
    const bool takes = order != JobStep::kSuspendOrdered && planned.cores > job->holding.cores().cores;
    if (takes && (one_comes_back_to_others || (one_waits && !machine_.names_cores()))) return false;
    const bool is_done = issue(*job, *order);
    const bool comes_back = !is_done && order == JobStep::kResumeOrdered;
    one_comes_back_to_others = one_comes_back_to_others || (comes_back && planned != job->holding.before());
    one_waits = one_waits || !is_done;
    return is_done;
  });
}

// False, and nothing is changed, while other jobs have the cores that it takes.
bool Controller::issue(Managed& job, JobStep order) {
  const Allocation& on = job.running->allocation;
  switch (order) {
    case JobStep::kLaunchOrdered:
      if (!cores_.launch(job.holding, on)) return false;
      begin_to_run(job);
      orders_.emplace_back(order::Launch{job.id(), on});
      break;
    case JobStep::kResizeOrdered:
      if (!cores_.begin_resize(job.holding, on)) return false;
      orders_.emplace_back(order::Resize{job.id(), on});
      break;
    case JobStep::kSuspendOrdered: orders_.emplace_back(order::Suspend{job.id()}); break;
    case JobStep::kResumeOrdered:
      if (!cores_.resume(job.holding)) return false;
      orders_.emplace_back(order::Resume{job.id()});
      break;
    default: INVARIANT(false, "step {} is no order", static_cast<int>(order));
  }
  return take_step(job, order);
}

void Controller::begin_to_run(Managed& job) {
  RunningJob& running = *job.running;
  if (running.started != now_) {  // it had to wait for its cores: its budget begins now
    running.budget = Progress{running.estimate, now_, rate_(*running.job, running.allocation, alone_on(machine_))};
    running_.set_estimated_end(running, running.budget.end());
  }
  job.may_begin = now_;
  if (options_.reports_begin) running.begun_after = RunningJob::kNotBegun;
  if (shared_.watches(running.allocation)) on_cores(job);
  write<log::Launched>(job.id(), running.allocation);
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
  shared_.leave(job.id(),
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
