// What seeds.json has of a run that is one of several seeds. Part of run_data.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "scheduler/report/page/run_data.hpp"

namespace replay::report {

struct SeedsOfRun {
  std::size_t seeds = 0;
  std::vector<MetricInterval> intervals;  ///< of the means over all seeds, for the run's policy
};

/// `run`: the run's folder, FOLDER/seed-N/POLICY. Nothing if there is no FOLDER/seeds.json, or it does not have the policy.
/// Throws InputError naming the file if it cannot be read.
[[nodiscard]] std::optional<SeedsOfRun> seeds_of(const std::filesystem::path& run);

}  // namespace replay::report
