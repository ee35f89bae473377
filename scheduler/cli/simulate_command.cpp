// `replay simulate`: the same options in virtual time; several policies at once on as many cores as there are.

#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launcher/topology.hpp"
#include "scheduler/cli/commands.hpp"
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

// A line on stderr when it is a terminal and the work takes longer than two seconds.
class ProgressLine {
 public:
  explicit ProgressLine(std::size_t all) : all_(all), shown_(::isatty(STDERR_FILENO) == 1) {}
  void operator()(const std::string& policy, std::size_t done) {
    const std::scoped_lock lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now - started_ < std::chrono::seconds{2}) return;
    fmt::print(stderr, "\r{}: {} of {} jobs\x1b[K", policy, done, all_);
    dirty_ = true;
  }
  ~ProgressLine() {
    if (dirty_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::size_t all_;
  bool shown_;
  bool dirty_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

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
  std::vector<std::exception_ptr> failures(runs.size());
  ProgressLine progress{scenario.workload().jobs.size()};
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
    simulation.progress = [&](std::size_t done) { progress(scenario.policies[i], done); };
    const SimulationResult result =
        simulate(machine, scenario.workload(), *named.policy, *model, recorder.sink(), simulation);
    runs[i] = recorder.finish();
    runs[i].interrupted = result.interrupted;
    recorder.write(runs[i]);
  };

  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) {
      try {
        simulate_one(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  const auto most = static_cast<std::size_t>(
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(most, runs.size()); ++i) threads.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
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
