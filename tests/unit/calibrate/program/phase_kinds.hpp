// Two ranks for the tests of phases: each on a core of its own, or both on one.
#pragma once

#include "scheduler/calibrate/program/phase_figures.hpp"

namespace replay::calibrate {

inline constexpr PhaseKind kExpanded{.ranks = 2, .cores = 2, .ranks_per_core = 1};
inline constexpr PhaseKind kShrunk{.ranks = 2, .cores = 1, .ranks_per_core = 2, .is_base = false};

}  // namespace replay::calibrate
