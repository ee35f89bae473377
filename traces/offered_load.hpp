// The range of an offered load that a user may ask for.
#pragma once

#include <fmt/core.h>

#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay {

inline constexpr double kMostOfferedLoad = 10;

/// Throws UsageError unless `load` is a share of the machine above 0, at most 10: 90 is meant as 90 %.
inline void expect_offered_load(double load) {
  if (load > 0 && load <= kMostOfferedLoad) return;
  throw UsageError(fmt::format(
      "--load: expected a share of the machine above 0, at most {}, found {}{}", kMostOfferedLoad, load,
      load > kMostOfferedLoad && load <= 100 * kMostOfferedLoad ? fmt::format("; was {} meant?", load / 100) : ""));
}

/// The same of a text.
[[nodiscard]] inline double offered_load_of(std::string_view text) {
  const auto load = parse_finite(text);
  if (!load)
    throw UsageError(
        fmt::format("--load: expected a share of the machine above 0, at most {}, found '{}'", kMostOfferedLoad, text));
  expect_offered_load(*load);
  return *load;
}

}  // namespace replay
