// Starts Hydra's processes: mpiexec, and proxies where the agent starts them itself (spanning.hpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/mpich/job_network.hpp"
#include "launcher/mpich/user_variables.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {

/// What is started, and how.
struct HydraStart {
  std::filesystem::path program;
  std::vector<std::string> arguments;
  Variables environment;
  int out = -1, err = -1;             ///< open descriptors
  std::filesystem::path directory{};  ///< where it runs; empty: where we do
  int at_our_death = 0;               ///< the signal that it then gets
  JobNetwork network = JobNetwork::kHost;
  int kept = -1;                ///< the only descriptor above 2 that it inherits, under the same number; -1: none
  std::vector<int> cores{};     ///< OS indices that it is bound to; empty: ours
  std::size_t descriptors = 0;  ///< that it and what it starts need to open, if that is more than they usually may
};

/// Starts a child in a session of its own, stdin empty, signals as usual. The caller reaps it. Throws
/// std::system_error: then no process was started, or it has ended. argument_list_too_long: `arguments` and
/// `environment` are at fault.
[[nodiscard]] Process start_hydra(const HydraStart& start);

}  // namespace replay::launcher
