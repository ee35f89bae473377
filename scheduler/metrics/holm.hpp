// Many tests at once: of twenty differences that are nothing, one is outside of its 95 % interval by chance. Holm's
// correction (Holm 1979, "A simple sequentially rejective multiple test procedure") keeps the probability that any of
// them is taken for one at the level of a single test. It asks for no independence, and finds whatever Bonferroni's finds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace replay::metrics {

struct HolmOutcome {
  std::vector<bool> settled;  ///< for each test, whether it is no chance
  std::size_t open = 0;       ///< tests that are not settled
  double open_level = 0;      ///< the probability that the next of these has to be at or below; `level` if none is open
};

/// `probabilities` by chance, one a test; a NaN is no test. REQUIRES: 0 < level < 1. O(n log n).
[[nodiscard]] HolmOutcome holm(std::span<const double> probabilities, double level);

}  // namespace replay::metrics
