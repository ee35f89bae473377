// The one way in which a policy is simulated, for all commands, studies and validations: the simulator runs, a recorder
// takes the log and makes the figures of it.
#pragma once

#include "scheduler/model/machine.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "scheduler/results/recorder.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::experiment {

/// What is simulated. The references must stay valid for the simulation.
struct Simulation {
  const Machine& machine;
  const Workload& workload;
  const RuntimeModel& model;
  SimulationOptions options{};
};

/// Runs it to its end under `policy`, and writes the outputs that the recorder is to write. If the policy fails, the run
/// ends, PolicyRun::fault says why, and what happened until then is recorded. Throws InputError. REQUIRES: the recorder
/// is new: not begun.
[[nodiscard]] results::PolicyRun simulate(const Simulation& simulation, Policy& policy, results::Recorder& recorder);

/// Description of a simulation that leaves no files, only figures.
[[nodiscard]] results::RunDescription figures_only(const Machine& machine, const std::string& policy,
                                                   const std::string& runtime_model);

}  // namespace replay::experiment
