// Simulations of a validation: one that does not come to its end is an exception.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "scheduler/experiment/simulation.hpp"

namespace replay::validate {

/// experiment::simulate_policy() to its end. Throws PolicyError naming the policy, sweep::Interrupted.
results::PolicyRun simulate_to_end(const experiment::Prepared& run, std::size_t policy,
                                   const std::filesystem::path& folder = {}, const std::string& command_line = {});

}  // namespace replay::validate
