// `replay simulate`: the same options in virtual time; several policies at once on as many cores as there are.

#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launcher/topology.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/parallel.hpp"
#include "scheduler/cli/progress_line.hpp"
#include "scheduler/cli/recorder.hpp"
#include "scheduler/cli/run_folder.hpp"
#include "scheduler/cli/scenario.hpp"
#include "scheduler/model/error.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct SimulateOptions {
  CommonOptions common;
  int threads = 0;
  bool flat = false;
};

std::atomic<bool> interrupted{false};

void on_interrupt(int) {
  if (interrupted.exchange(true)) ::_exit(130);  // the second time, at once
}

Machine machine_of(const SimulateOptions& options, const Scenario& scenario) {
  const std::string& text = options.common.machine;
  Machine machine = Machine::pool(scenario.loaded.machine_size);
  if (text == "local" || text.starts_with("local:"))
    machine = launcher::discover_local(text).machine;
  else if (text.find(':') != std::string::npos && !text.starts_with("flat:") && !text.starts_with("emulated:"))
    machine = launcher::synthetic_machine(text);
  else if (!text.empty())
    machine = Machine::parse(text);
  return options.flat ? Machine::pool(machine.size()) : machine;
}

int simulate_all(const SimulateOptions& options, const std::string& command_line) {
  Scenario scenario = load_scenario(options.common, "utrera", std::nullopt);
  const Machine machine = machine_of(options, scenario);
  fit_to_machine(scenario, options.common, machine.size(), false);
  const bool writes = options.common.outputs != "none";
  const fs::path folder =
      writes ? make_run_folder(options.common.out, scenario.policies, options.common.force) : fs::path{};

  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::vector<PolicyRun> runs(scenario.policies.size());
  ProgressLine progress;
  const auto simulate_one = [&](std::size_t i) {
    const NamedPolicy named = make_policy(scenario.policies[i]);
    const auto model = make_runtime_model(scenario.runtime_model);
    const fs::path where = runs.size() == 1 ? folder : folder / folder_name(scenario.policies[i]);
    Recorder recorder{writes ? where : fs::path{},
                      options.common.outputs,
                      command_line,
                      "sim",
                      named,
                      scenario,
                      options.common,
                      machine.to_text(),
                      1.0};
    recorder.begin();
    SimulationOptions simulation;
    simulation.overrun = scenario.overrun;
    simulation.until = scenario.until;
    simulation.interrupted = [] { return interrupted.load(); };
    simulation.progress = [&](std::size_t done) {
      progress.show(fmt::format("{}: {} of {} jobs", scenario.policies[i], done, scenario.workload().jobs.size()));
    };
    const SimulationResult result =
        simulate(machine, scenario.workload(), *named.policy, *model, recorder.sink(), simulation);
    runs[i] = recorder.finish();
    runs[i].interrupted = result.interrupted;
    recorder.write(runs[i]);
  };

  for_each_in_parallel(runs.size(), options.threads, simulate_one);
  return report(runs, scenario, folder, options.common.json);
}

}  // namespace

Command add_simulate(CLI::App& app, const std::string& command_line) {
  auto* command = app.add_subcommand("simulate", "the same in virtual time: any machine, any number of jobs");
  command->footer("Example: replay simulate --trace KTH-SP2.swf.gz --policy easy,fcfs-malleable");
  auto options = std::make_shared<SimulateOptions>();
  add_common_options(*command, options->common);
  command->get_option("--machine")
      ->description(
          "flat:CORES, NODESxPACKAGESxCORES, local, or hwloc's synthetic notation (default: the trace's own)");
  command->add_flag("--flat", options->flat, "one pool of cores: nodes do not matter");
  command->add_option("--jobs", options->threads, "cores to use for several policies (default: all)")
      ->check(CLI::PositiveNumber);
  return [options, command_line] { return simulate_all(*options, command_line); };
}

}  // namespace replay::cli
