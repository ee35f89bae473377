// The range of an offered load that a user may ask for.
#pragma once

#include <fmt/core.h>

#include "scheduler/base/error.hpp"

namespace replay {

/// Throws UsageError unless `load` is a share of the machine above 0, at most 10: 90 is meant as 90 %.
inline void expect_offered_load(double load) {
  constexpr double kMost = 10;
  if (load > 0 && load <= kMost) return;
  throw UsageError(fmt::format("--load: expected a share of the machine above 0, at most {}, found {}{}", kMost, load,
                               load > kMost && load <= 100 * kMost ? fmt::format("; was {} meant?", load / 100) : ""));
}

}  // namespace replay
