// The paper's experiment in the simulator, over twenty seeds: the mean gains of the policies, and the choice of the
// seed to run for real.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/compare/figures.hpp"
#include "scheduler/metrics/confidence.hpp"
#include "scheduler/validate/cell.hpp"
#include "scheduler/validate/paper_experiment.hpp"

namespace replay::validate {

inline constexpr std::size_t kPaperSeeds = 20;  ///< 1 to 20
inline constexpr double kFaintWait = 0.05;      ///< real seconds: relative errors of shorter mean waits say nothing

/// One load and arrival process under all policies, with all seeds.
struct SeedSeries {
  int load_percent = 0;
  std::string_view arrivals;  ///< of kPaperArrivals
  /// [policy as in kPaperPolicies][figure as in compare::kFigureNames][seed - 1]
  std::array<std::array<std::vector<double>, compare::kFigureCount>, std::size(kPaperPolicies)> values{};
};

/// Seeds 1 to kPaperSeeds, on all cores; some seconds. Writes their traces. Throws as sweep::run_batch().
[[nodiscard]] std::vector<SeedSeries> simulate_paper_seeds(const std::filesystem::path& traces,
                                                           const PaperWorkload& workload,
                                                           const ValidationSetting& setting);

/// One policy at one load, over the seeds.
struct SeedMeans {
  int load_percent = 0;
  std::string arrivals, policy;
  std::array<metrics::Estimate, compare::kFigureCount> figures{};  ///< means and 95 % confidence intervals
  std::array<metrics::Estimate, compare::kFigureCount> gains{};    ///< % to the first policy, seed by seed
};
[[nodiscard]] std::vector<SeedMeans> seed_means(std::span<const SeedSeries> all);

struct TypicalSeed {
  std::uint64_t seed = 0;
  double distance = 0;  ///< root mean square over the cells, in points of percent of response
  std::size_t faint_waits = 0;
};
/// The most typical seed: with gains in response nearest to their means, among those with the fewest mean waits
/// (usually none) above 0 and below `faint_wait` (s of the trace). Real runs have no influence on it. REQUIRES: all
/// series of as many seeds, one at least.
[[nodiscard]] TypicalSeed typical_seed(std::span<const SeedSeries> all, double faint_wait);

}  // namespace replay::validate
