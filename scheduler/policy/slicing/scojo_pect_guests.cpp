// Guests of a slice (scojo_pect.cpp): jobs of other classes on nodes that the class of the slice does not need before its end.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/policy/slicing/job_units.hpp"
#include "scheduler/policy/slicing/scojo_pect_policy.hpp"

namespace replay {

// ---- guests ----

void ScojoPect::leave_guests(ClassJob& job) {
  if (&machine_of(job) == &host()) return;
  const auto guest = std::ranges::find_if(
      guests_, [&job](const Guest& one) { return std::ranges::find(one.jobs, &job) != one.jobs.end(); });
  if (guest == guests_.end()) return;
  const Instant ends = guest->stand_in->estimated_end;
  host().dismiss(*guest->stand_in);
  std::erase(guest->jobs, &job);
  if (guest->jobs.empty())
    guests_.erase(guest);
  else
    guest->stand_in = &host().admit(guest->jobs.front()->job, nodes_of(guest->jobs), ends);
  host().note(TriggerKind::kWake);  // the host has more room
}

void ScojoPect::admit(std::vector<ClassJob*> jobs, const Allocation& nodes, Instant ends) {
  RunningJob& stand_in = host().admit(jobs.front()->job, nodes, ends);
  guests_.push_back({std::move(jobs), &stand_in});
}

Allocation ScojoPect::nodes_of(const std::vector<ClassJob*>& jobs) const {
  std::vector<const Allocation*> allocations;
  for (const ClassJob* job : jobs) allocations.push_back(&job->running->allocation);
  return whole_nodes(allocations, machines_.front()->machine());
}

// Guests in the order of arrival over both other classes, suspended ones first. Each takes from what the host leaves
// free until the end of its slice.
void ScojoPect::invite_guests(const ClusterView& view) {
  const auto has_candidates = [this](const auto& machine) {
    return machine.get() != &host() && !machine->has_no_jobs();
  };
  if (std::ranges::none_of(machines_, has_candidates) || !has_free_node(host().free(), view.machine)) return;
  const Instant ends = end_of_slice(view.now);
  std::optional<CoreCount> room;  // asked for when there is a candidate
  const auto has_room = [&](const Allocation& nodes) {
    if (!host().free().has_room(nodes)) return false;
    if (!room) room = host().free_until(view, ends);
    return nodes.cores <= *room;
  };
  // A job of the slice that has just ended is still on its cores: it stays only on those that were free when this slice
  // opened, before any job of the host was shrunk.
  const auto goes_on = [](const ClassJob* job) { return job->was_on; };
  for (std::vector<ClassJob*>& unit : suspended_units()) {
    const Allocation nodes = nodes_of(unit);
    if (!has_room(nodes)) continue;
    if (std::ranges::any_of(unit, goes_on)) {
      if (!at_opening_->has_room(nodes)) continue;
      at_opening_->take(nodes);
    }
    *room -= nodes.cores;
    for (ClassJob* job : unit) bring_on(*job);
    admit(std::move(unit), nodes, ends);
  }
  if (!room) room = host().free_until(view, ends);
  invite_waiting(view, ends, *room);
}

// Units of the other classes, by arrival of their first jobs.
std::vector<std::vector<ClassJob*>> ScojoPect::suspended_units() {
  std::vector<std::vector<ClassJob*>> units;
  const auto is_before = [](const ClassJob* a, const ClassJob* b) { return a->is_before(*b); };
  for (const auto& machine : machines_) {
    if (machine.get() == &host()) continue;
    std::vector<ClassJob*> jobs;
    for_each_own(*machine, [&jobs](ClassJob& job) {
      if (!job.is_on) jobs.push_back(&job);
    });
    std::ranges::sort(jobs, is_before);
    std::vector<const Allocation*> allocations;
    for (const ClassJob* job : jobs) allocations.push_back(&job->running->allocation);
    const auto are_of_one_group = [&jobs](std::size_t a, std::size_t b) {
      return jobs[a]->is_grouped && jobs[b]->is_grouped && jobs[a]->group == jobs[b]->group;
    };
    for (const std::vector<std::size_t>& indices : units_of(allocations, machine->machine(), are_of_one_group)) {
      std::vector<ClassJob*>& unit = units.emplace_back();
      for (const std::size_t index : indices) unit.push_back(jobs[index]);
    }
  }
  std::ranges::sort(units, is_before, [](const std::vector<ClassJob*>& unit) { return unit.front(); });
  return units;
}

void ScojoPect::invite_waiting(const ClusterView& view, Instant ends, CoreCount room) {
  std::array<std::optional<FreeCores>, kJobClasses> free;  // by class: in its virtual machine and in truth
  for (ClassJob* job : narrow_waiting(std::min(room, host().free().total()))) {
    if (room <= 0) return;
    VirtualMachine& machine = machine_of(*job);
    std::optional<FreeCores>& its = free[static_cast<std::size_t>(job->job_class)];
    if (!its) {
      its = free_in_both(machine.free(), host().free(), view.machine);
      for (const Guest& guest : guests_)
        if (&machine_of(*guest.jobs.front()) == &machine) follow(guest, view.now);
    }
    Start start{job->job.id, {}};
    if (auto place = machine.alone(view, *job, *its))
      start.allocation = std::move(*place);
    else
      continue;
    const std::array<const Allocation*, 1> one{&start.allocation};
    const Allocation nodes = whole_nodes(one, view.machine);
    if (nodes.cores > room || !machine.may_start_now(view, *job, *its)) continue;
    machine.start(*job, start.allocation, view);
    begun_.emplace_back(std::move(start));
    admit({job}, nodes, ends);
    room -= nodes.cores;
    free.fill(std::nullopt);
  }
}

// Waiting jobs of the other classes that need at most so many cores, by arrival.
std::vector<ClassJob*> ScojoPect::narrow_waiting(CoreCount most) {
  std::vector<ClassJob*> jobs;
  const Wanted wanted{most, Duration::max()};
  for (const auto& machine : machines_) {
    if (machine.get() == &host()) continue;
    const WaitingQueue& waiting = machine->waiting();
    for (auto at = waiting.begin(); (at = waiting.find(at, wanted)) != waiting.end(); ++at)
      jobs.push_back(&jobs_.at((*at)->id));
  }
  std::ranges::sort(jobs, [](const ClassJob* a, const ClassJob* b) { return a->is_before(*b); });
  return jobs;
}

}  // namespace replay
