// Estimates as the cells of tables.
#pragma once

#include <string>

#include "scheduler/metrics/confidence.hpp"

namespace replay::metrics {

/// "12.3 +- 0.4", times `scale`; without the half-width if there is none, "-" without a mean.
[[nodiscard]] std::string mean_text(const Estimate& estimate, int decimals, double scale = 1);
/// "+12.3 [+11.9, +12.7]"; without the interval if there is none, "-" without a mean.
[[nodiscard]] std::string difference_text(const Estimate& estimate, int decimals);

}  // namespace replay::metrics
