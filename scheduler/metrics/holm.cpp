#include "scheduler/metrics/holm.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/base/error.hpp"

namespace replay::metrics {

HolmOutcome holm(std::span<const double> probabilities, double level) {
  INVARIANT(level > 0 && level < 1, "Holm's correction at the level {}", level);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    if (!std::isnan(probabilities[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return probabilities[i]; });
  HolmOutcome outcome{
      .settled = std::vector<bool>(probabilities.size(), false), .open = order.size(), .open_level = level};
  for (const std::size_t i : order) {
    outcome.open_level = level / static_cast<double>(outcome.open);
    if (probabilities[i] > outcome.open_level) return outcome;
    outcome.settled[i] = true;
    --outcome.open;
  }
  outcome.open_level = level;
  return outcome;
}

}  // namespace replay::metrics
