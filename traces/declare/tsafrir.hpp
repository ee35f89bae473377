// User estimates after Tsafrir, Etsion and Feitelson, "Modeling user runtime estimates" (JSSPP 2005), in the form of
// Tsafrir's own program: users take a few round values, twenty of them for nine jobs in ten, and the longest allowed
// most of all. The popularity of each value was counted in four logs; a parameter set is one of these orders with that
// log's limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"
#include "traces/models/random.hpp"

namespace replay {

/// The number of popular estimates.
inline constexpr std::size_t kHeadSize = 20;
/// The model holds for limits of an hour and more.
inline constexpr Duration kLeastLimit = std::chrono::hours{1};

/// The popularity of the head's times, 1 being the most popular, by time rank: 0 is the limit, 1.. are the others
/// ascending.
using PopularityOrder = std::array<int, kHeadSize>;

struct TsafrirParameters {
  std::string_view name;
  std::string_view log;
  Duration limit;  ///< E_max, the longest estimate that the machine allowed
  PopularityOrder popularity;
};
/// The four published sets: sdsc, ctc, kth, blue.
[[nodiscard]] std::span<const TsafrirParameters> tsafrir_parameters();

/// A popularity order drawn from all four logs: the model proper, for no machine in particular.
[[nodiscard]] PopularityOrder draw_popularity(UniformSource& source);

/// How many different estimates `jobs` jobs have.
[[nodiscard]] int distinct_estimates(std::size_t jobs);
/// Percentage of the jobs by popularity rank, 1 first; in all 89 %.
[[nodiscard]] std::array<double, kHeadSize> head_percentages();
/// The limit, and nineteen popular times below it, ascending. REQUIRES: limit >= kLeastLimit.
[[nodiscard]] std::array<Duration, kHeadSize> head_times(Duration limit);

struct EstimateBin {
  Duration estimate;
  double percent;
  std::uint64_t jobs = 0;
};
/// The estimates of `jobs` jobs and how many have each; the counts sum to `jobs`, each at least 1. Head first, by
/// popularity.
[[nodiscard]] std::vector<EstimateBin> draw_estimate_bins(std::size_t jobs, Duration limit,
                                                          const PopularityOrder& order, UniformSource& source);

struct AssignedEstimates {
  std::vector<Duration> estimates;  ///< of each run time, in its place
  std::uint64_t raised = 0;         ///< estimates taken up to the next one, as no permutation fits all run times
  std::uint64_t beyond_limit = 0;   ///< run times longer than the limit: their estimate is the limit
};
/// Gives the estimates of the bins to jobs, at random among those not shorter than the run time (as far as it is below
/// the limit). O(n log n). REQUIRES: as many estimates in `bins` as run times.
[[nodiscard]] AssignedEstimates assign_estimates(std::span<const Duration> runtimes, std::span<const EstimateBin> bins,
                                                 Duration limit, UniformSource& source);

struct TsafrirRule {
  const TsafrirParameters* parameters = nullptr;  ///< nothing: a drawn order
  std::optional<Duration> limit{};  ///< nothing: the set's; without a set the longest run time, up to a whole hour
};
/// The whole model: estimates for the jobs of a trace, in its order.
[[nodiscard]] AssignedEstimates model_estimates(std::span<const Duration> runtimes, const TsafrirRule& rule, Seed seed);

}  // namespace replay
