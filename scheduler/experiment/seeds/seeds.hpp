// Simulations with several seeds: the list of seeds, what depends on them, and the results over all of them, as a table
// or JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/metrics/summary.hpp"

namespace replay::experiment {

/// "1-20", "1,3,7", "1-5,9": in the order given. Throws UsageError: not such a list, a seed twice, fewer than two,
/// more than a million.
[[nodiscard]] std::vector<std::uint64_t> parse_seeds(std::string_view list);

/// One policy with every seed.
struct SeededResult {
  std::string policy;
  std::vector<metrics::Summary> by_seed;  ///< in the order of the seeds, the same metrics in each
};

/// Whether every metric is the same for each seed.
[[nodiscard]] bool all_seeds_agree(const SeededResult& result);

/// Means and half-widths of the 95 % confidence intervals, a column for each policy; with several policies a second
/// block with the differences to the first in percent, pair by pair of the same seed, and their intervals. "-" for
/// what cannot be had.
[[nodiscard]] std::string seeds_table(const std::vector<SeededResult>& results, bool trim);

/// The same, for every metric, with each seed's value.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<SeededResult>& results,
                                             const std::vector<std::uint64_t>& seeds, bool trim);

}  // namespace replay::experiment
