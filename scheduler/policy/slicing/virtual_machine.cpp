#include "scheduler/policy/slicing/virtual_machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

Allocation all_of(const Machine& machine) {
  Allocation all;
  all.cores = machine.size();
  if (machine.names_cores())
    for (const CoreId core : machine.cores()) all.named.push_back({core, 1});
  return all;
}

}  // namespace

VirtualMachine::VirtualMachine(Policy& inner, const Machine& machine, Instant now)
    : inner_(inner), hosting_(hosting_of(inner)), machine_(machine), now_(now), free_(machine), nothing_(machine) {
  nothing_.take(all_of(machine));
}

void VirtualMachine::submit(ClassJob& job) {
  job.job.submitted = now_;
  waiting_.insert(job.job);
  note(TriggerKind::kSubmit, &job);
}

void VirtualMachine::start(ClassJob& job, Allocation& allocation, const ClusterView& real) {
  const ProcessCount processes = processes_of(job.job, allocation);
  if (machine_.names_cores() && allocation.named.empty())
    if (auto place = free_.place(processes, allocation.mpl)) {
      place->shareable = allocation.shareable;
      allocation = std::move(*place);
    }
  allocation.processes = processes == job.job.processes ? ProcessCount{0} : processes;
  if ((machine_.names_cores() && allocation.named.empty()) || !free_.has_room(allocation))
    throw PolicyError(fmt::format("the inner policy starts job {} on {} cores: {} are free in its virtual machine",
                                  number(job.job.id), allocation.cores, free_.total()));
  free_.take(allocation);
  waiting_.remove(job.job);
  job.rate = real.rate_of(job.job, allocation);
  job.is_on = job.was_on = true;

  RunningJob running;
  running.job = &job.job;
  running.started = now_;
  running.start_order = starts_++;
  running.allocation = allocation;
  running.estimate = estimate_at(job.job, processes);
  running.budget = Progress{running.estimate, now_, job.rate};
  running.estimated_end = running.budget.end();
  running.state.physical = Physical::kOnCores;
  running.malleability = declared_malleability(job.job, processes);
  running.cpu_use = job.job.declared.cpu_use;
  job.running = &running_.insert(std::move(running));
  ++started_;
}

void VirtualMachine::resize(ClassJob& job, Allocation& allocation) {
  RunningJob& running = *job.running;
  if (machine_.names_cores() && allocation.named.empty())
    if (auto place = free_.at_level(running.allocation, running.processes(), allocation.mpl))
      allocation = std::move(*place);
  allocation.processes = running.allocation.processes;
  free_.release(running.allocation);
  if ((machine_.names_cores() && allocation.named.empty()) || !free_.has_room(allocation))
    throw PolicyError(fmt::format("the inner policy resizes job {} to {} cores: {} are free in its virtual machine",
                                  number(job.job.id), allocation.cores, free_.total()));
  free_.take(allocation);
  running.allocation = allocation;
  running_.note_disturbance();
}

void VirtualMachine::leave_plan(ClassJob& job) {
  if (job.running->is_gone_in_plan()) return;
  free_.release(job.running->allocation);
  if (job.running->estimated_end > now_) running_.note_disturbance();
  running_.mark_gone_in_plan(*job.running);
  --started_;
}

void VirtualMachine::end(ClassJob& job) {
  if (job.running == nullptr) {
    waiting_.remove(job.job);
  } else {
    if (!job.running->is_gone_in_plan()) {
      free_.release(job.running->allocation);
      --started_;
    }
    running_.erase(*job.running);
    job.running = nullptr;
  }
  note(TriggerKind::kFinish, &job);
}

void VirtualMachine::follow(ClassJob& job, Instant now) {
  const RunningJob& real = *job.real;
  RunningJob& running = *job.running;
  if (real.is_gone_in_plan()) leave_plan(job);
  Progress budget = real.budget.shifted(now_ - now);
  if (budget.rate() > 0)
    job.rate = budget.rate();
  else
    budget.change_rate(now_, job.rate);
  running.budget = budget;
  running.estimate = real.estimate;
  running.malleability = real.malleability;
  running.cpu_use = real.cpu_use;
  running_.set_estimated_end(running, budget.end());
}

RunningJob& VirtualMachine::admit(const Job& job, const Allocation& cores, Instant ends) {
  free_.take(cores);
  RunningJob guest;
  guest.job = &job;
  guest.started = now_;
  guest.start_order = starts_++;
  guest.allocation = cores;
  guest.estimate = ends - now_;
  guest.budget = Progress{guest.estimate, now_, 1};
  guest.estimated_end = ends;
  guest.state.physical = Physical::kOnCores;
  guest.malleability = Malleability::kGuest;
  return running_.insert(std::move(guest));
}

void VirtualMachine::dismiss(RunningJob& guest) {
  free_.release(guest.allocation);
  running_.note_disturbance();
  running_.erase(guest);
}

// By its own clock nodes are up again later for as long as it stands, which is not known beforehand.
void VirtualMachine::follow_nodes(const ClusterView& real) {
  const auto before = std::vector<ClosedNode>(free_.closed().begin(), free_.closed().end());
  free_.close_as(real.free, now_ - real.now);
  nothing_.close_as(real.free, now_ - real.now);
  if (std::ranges::equal(before, free_.closed())) return;
  running_.note_disturbance();
  note(TriggerKind::kNodes);
}

void VirtualMachine::note(TriggerKind kind, const ClassJob* job) {
  triggers_.push_back({kind, job == nullptr ? nullptr : &job->job});
}

void VirtualMachine::wake_at(Instant at) {
  if (at > now_) wakes_.insert(at);
}

void VirtualMachine::pass(const ClusterView& real, const FreeCores& free, Decisions& out) {
  wakes_.erase(wakes_.begin(), wakes_.upper_bound(now_));
  inner_.decide(view(real, free), out);
  triggers_.clear();
}

}  // namespace replay
