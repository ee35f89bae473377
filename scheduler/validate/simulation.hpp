// Simulations of a validation: one that does not come to its end is an exception.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "scheduler/experiment/simulation.hpp"

namespace replay::validate {

/// Thrown after a stop signal (under HeedStops) while a cell was simulated or run: the cell has no result, and is run again
/// next time.
struct CellInterrupted {};

/// experiment::simulate_policy() to its end. Throws PolicyError naming the policy, CellInterrupted.
results::PolicyRun simulate_to_end(const experiment::Prepared& run, std::size_t policy,
                                   const std::filesystem::path& folder = {}, const std::string& command_line = {});

}  // namespace replay::validate
