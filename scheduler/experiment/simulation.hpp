// Runs in virtual time: the body that simulates, and what is made of it for a run that has been prepared.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/run.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/model/workload.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::experiment {

/// Simulates a workload. The references must stay valid for the run. A policy that fails is a fault of the run.
class SimBody final : public Body {
 public:
  SimBody(const Machine& machine, const Workload& workload, SimulationOptions options = {})
      : machine_(machine), workload_(workload), options_(std::move(options)) {}
  BodyEnd run(Policy& policy, const RuntimeModel& model, results::Recorder& recorder, const Viewers& viewers) override;

 private:
  const Machine& machine_;
  const Workload& workload_;
  SimulationOptions options_;
};

/// Description of a simulation that leaves no files, only figures.
[[nodiscard]] results::RunDescription figures_only(const Machine& machine, std::string_view policy,
                                                   const std::string& runtime_model);

/// Simulates the run's policy number `policy`. `folder` empty: writes nothing. `progress` is called now and then with the
/// number of jobs that have ended. A stop signal (under HeedStops) ends the run early. Any thread; `run` is only read.
[[nodiscard]] results::PolicyRun simulate_policy(const Prepared& run, std::size_t policy,
                                                 const std::filesystem::path& folder, const std::string& command_line,
                                                 std::function<void(std::size_t)> progress);

/// What a real run takes.
struct Needs {
  double seconds = 0;       ///< of its policies one after the other, by the simulator
  ProcessCount widest = 0;  ///< its widest job
  double start_up_s = 0;    ///< of that
  double bytes = 0;         ///< of memory
};
/// Writes nothing. Throws PolicyError.
[[nodiscard]] Needs needs_of(const Prepared& run);

/// When and on which cores a simulation starts a job.
struct ExpectedStart {
  Instant at{};
  Allocation on{};
};
/// Of all jobs that this policy of the run starts. Throws PolicyError.
[[nodiscard]] std::map<JobId, ExpectedStart> expected_starts(const Prepared& run, const PreparedPolicy& policy);

}  // namespace replay::experiment
