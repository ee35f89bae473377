// What a policy sees: the clock, the machine, free cores, the queue and the running jobs, all as planned. A wrapping
// policy builds views of its own from the same parts, so nothing here depends on the controller.
#pragma once

#include <cstdint>
#include <span>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/view/running_set.hpp"
#include "scheduler/policy/view/waiting_queue.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay {

/// What made this pass necessary.
/// kNodes: nodes were closed or opened.
enum class TriggerKind : std::uint8_t { kSubmit, kFinish, kEstimateReached, kWake, kChange, kNodes };
struct Trigger {
  TriggerKind kind;
  const Job* job = nullptr;  ///< nullptr for kWake and kNodes; valid during the pass
};

struct ClusterView {
  Instant now;
  const Machine& machine;
  const FreeCores& free;  ///< by plan: cores of jobs that are gone in plan included
  const WaitingQueue& waiting;
  const RunningSet& running;
  std::span<const Trigger> triggers;   ///< since the last pass; one under PassRule::kEvent
  const DeclaredRate* rate = nullptr;  ///< of the runtime model; nullptr: there is none
  /// Running malleable jobs with a curve may be resized to every size that they offer, as their work is divided anew:
  /// Allocation::cores is the size, mpl is ceil(processes / cores). False: only to ceil(processes / m) cores.
  bool resizes_to_any_size = false;
  /// Time of the day, UTC, at the trace's zero; 0 where the log does not say.
  Duration zero_time_of_day{};
  /// A batch system takes the machine away: what runs then is killed, what waits is cancelled. kNever: not known.
  Instant machine_until = kNever;

  /// The most cores that there will be, by what is known now: those of the machine, but for nodes that are closed and not to
  /// be up again. No job that waits needs more. When each node is up: free.closed().
  [[nodiscard]] CoreCount capacity() const { return free.capacity(kEndOfPlans); }

  /// Declared progress per second of `job` on `allocation`, alone there; 1 / m where there is no runtime model. The work
  /// is estimate_at() of the processes on it.
  [[nodiscard]] double rate_of(const Job& job, const Allocation& allocation) const {
    return rate_of(job, allocation, alone_on(machine));
  }
  /// The same in these surroundings: beside other jobs.
  [[nodiscard]] double rate_of(const Job& job, const Allocation& allocation, const Surroundings& around) const {
    return rate != nullptr ? (*rate)(job, allocation, around) : 1.0 / allocation.mpl;
  }
};

}  // namespace replay
