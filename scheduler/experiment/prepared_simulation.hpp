// A simulation from its options: everything is read and checked once, then each policy is simulated and recorded. The step
// that `replay simulate` takes for each policy and seed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "scheduler/experiment/scenario.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/results/recorder.hpp"

namespace replay::experiment {

/// Options of `replay simulate`, as given.
struct SimulateOptions {
  CommonOptions common;
  std::string seeds;
  int threads = 0;
  bool flat = false;
  bool trim = false;
};

/// Everything that a simulation needs, read and checked.
struct PreparedSimulation {
  CommonOptions options;
  Scenario scenario;
  Machine machine;
};

/// Throws UsageError, InputError.
[[nodiscard]] PreparedSimulation prepare_simulation(const CommonOptions& options, bool flat);

/// Runs the scenario's policy number `policy`. `folder` empty: writes nothing. `progress` is called now and then with
/// the number of jobs that have ended. A stop signal (under HeedStops) ends the run early. If the policy fails, the run
/// ends, PolicyRun::fault says why, and what happened until then is recorded. Any thread; `prepared` is only read.
[[nodiscard]] results::PolicyRun simulate_policy(const PreparedSimulation& prepared, std::size_t policy,
                                                 const std::filesystem::path& folder, const std::string& command_line,
                                                 std::function<void(std::size_t)> progress);

}  // namespace replay::experiment
