#include "scheduler/validate/simulation.hpp"

#include <fmt/format.h>

#include "scheduler/base/error.hpp"
#include "scheduler/sweep/engine/run_cells.hpp"

namespace replay::validate {

results::PolicyRun simulate_to_end(const experiment::Prepared& run, std::size_t policy,
                                   const std::filesystem::path& folder, const std::string& command_line) {
  results::PolicyRun done = experiment::simulate_policy(run, policy, folder, command_line, {});
  if (done.interrupted) throw sweep::Interrupted{};
  if (!done.fault.empty()) throw PolicyError(fmt::format("{}: {}", run.policies[policy].text, done.fault));
  return done;
}

}  // namespace replay::validate
