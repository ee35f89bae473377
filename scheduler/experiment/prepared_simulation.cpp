#include "scheduler/experiment/prepared_simulation.hpp"

#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/experiment/calibrated_scenario.hpp"
#include "scheduler/experiment/hardware.hpp"
#include "scheduler/experiment/simulation.hpp"

namespace replay::experiment {
namespace {

Machine machine_of(const CommonOptions& options, bool flat, const Scenario& scenario) {
  const std::string& text = options.machine;
  Machine machine = Machine::pool(scenario.loaded.machine_size);
  if (!text.empty()) machine = Machine::is_for_parse(text) ? Machine::parse(text) : machine_by_hardware(text);
  return flat ? Machine::pool(machine.size()) : machine;
}

}  // namespace

PreparedSimulation prepare_simulation(const CommonOptions& options, bool flat) {
  Scenario scenario = load_scenario(options, "utrera", std::nullopt);
  Machine machine = machine_of(options, flat, scenario);
  if (options.machine.empty()) note_machine_of_log(scenario);
  fit_to_machine(scenario, options, machine.size(), false);
  const bool is_local = options.machine.starts_with("local");
  use_profile(scenario, options, {is_local ? JobsCores::Kind::kHere : JobsCores::Kind::kVirtual, machine.size()},
              {.deducts_overheads = options.machine.starts_with("emulated:")});
  find_average_waits(scenario, machine);
  return {options, std::move(scenario), std::move(machine)};
}

results::PolicyRun simulate_policy(const PreparedSimulation& prepared, std::size_t policy,
                                   const std::filesystem::path& folder, const std::string& command_line,
                                   std::function<void(std::size_t)> progress) {
  const Scenario& scenario = prepared.scenario;
  const NamedPolicy named = make_policy(scenario.policies[policy]);
  const auto model = scenario.model();
  results::RunDescription description = describe_run(scenario, prepared.options, named);
  description.command_line = command_line;
  description.body = "sim";
  description.machine = prepared.machine.to_text();
  results::Recorder recorder{folder, std::move(description)};
  Simulation simulation{prepared.machine, scenario.workload(), *model};
  simulation.options.overrun = scenario.overrun;
  simulation.options.until = scenario.until;
  simulation.options.interrupted = [] { return stops_asked() > 0; };
  simulation.options.progress = std::move(progress);
  return simulate(simulation, *named.policy, recorder);
}

}  // namespace replay::experiment
