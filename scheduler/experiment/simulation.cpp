#include "scheduler/experiment/simulation.hpp"

#include <string>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay::experiment {

results::PolicyRun simulate(const Simulation& simulation, Policy& policy, results::Recorder& recorder) {
  recorder.begin();
  SimulationResult result;
  std::string fault;
  try {
    result = replay::simulate(simulation.machine, simulation.workload, policy, simulation.model, recorder.sink(),
                              simulation.options);
  } catch (const PolicyError& error) {
    fault = error.what();
  }
  results::PolicyRun run = recorder.finish();
  run.interrupted = result.interrupted;
  run.fault = std::move(fault);
  recorder.write(run);
  return run;
}

results::RunDescription figures_only(const Machine& machine, const std::string& policy,
                                     const std::string& runtime_model) {
  results::RunDescription description;
  description.body = "sim";
  description.machine = machine.to_text();
  description.policy = policy;
  description.policy_full = policy;
  description.runtime_model = runtime_model;
  description.outputs = "none";
  return description;
}

}  // namespace replay::experiment
