// The tables of the page of the SCOJO-P paper.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler/study/scojo_p/simulated_values.hpp"

namespace replay::study {

/// A figure that is shown by class, and how.
struct ScojoMeasure {
  std::string_view name, unit;
  ScojoValues::Figure figure;
  double scale;  ///< from the figure to the unit
  int decimals;
};
inline constexpr ScojoMeasure kScojoResponse{"mean response", "h", &ScojoGroupFigures::response_s, 1.0 / 3600, 2},
    kScojoWait{"mean wait", "h", &ScojoGroupFigures::wait_s, 1.0 / 3600, 2},
    kScojoSlowdown{"mean bounded slowdown", "ratio", &ScojoGroupFigures::slowdown, 1, 1};

[[nodiscard]] Table scojo_workloads(const ScojoValues& simulated);
/// A measure by class on some workloads, a row a policy; policies that ran on none are left out.
[[nodiscard]] Table scojo_by_class(const ScojoValues& simulated, std::string id, std::string title,
                                   const ScojoMeasure& measure, const std::vector<std::string_view>& workloads);
/// What the text says in per cent, for W1 and W2.
[[nodiscard]] Table scojo_gains(const ScojoValues& simulated);
/// Response and slowdown of a workload, and each seed's response against the two traditional schedulers.
[[nodiscard]] Table scojo_by_seed(const ScojoValues& simulated, std::string_view workload);
[[nodiscard]] Table scojo_adaptations(const ScojoValues& simulated);
[[nodiscard]] Table scojo_sizes(const ScojoValues& simulated);
[[nodiscard]] Table scojo_ideal(const ScojoValues& simulated);
/// Gains with fewer moldable jobs.
[[nodiscard]] Table scojo_eighty(const ScojoValues& simulated);
/// Gains of the original SCOJO.
[[nodiscard]] Table scojo_original(const ScojoValues& simulated);
[[nodiscard]] Table scojo_downey_sizes(const ScojoValues& simulated);

}  // namespace replay::study
