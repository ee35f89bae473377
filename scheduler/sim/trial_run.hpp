// Simulates the jobs of a run before the run, for policies whose parameters take that (PolicyEntry::prepare).
#pragma once

#include "scheduler/policy/view/policy_entry.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay {

/// The references must stay valid while the result is used. Its calls throw UsageError for an unknown policy, PolicyError.
[[nodiscard]] TrialRun trial_run(const Machine& machine, const Workload& workload, const RuntimeModel& model,
                                 const SimulationOptions& options);

}  // namespace replay
