#include "scheduler/validate/simulation.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"

namespace replay::validate {

results::PolicyRun simulate_to_end(const experiment::PreparedSimulation& prepared, std::size_t policy,
                                   const std::filesystem::path& folder, const std::string& command_line) {
  results::PolicyRun run = experiment::simulate_policy(prepared, policy, folder, command_line, {});
  if (run.interrupted) throw CellInterrupted{};
  if (!run.fault.empty()) throw PolicyError(fmt::format("{}: {}", prepared.scenario.policies[policy], run.fault));
  return run;
}

}  // namespace replay::validate
