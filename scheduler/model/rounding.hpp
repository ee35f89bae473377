// How a time that was computed in floating point becomes whole microseconds.
#pragma once

#include <cmath>
#include <cstdint>

#include "scheduler/model/units.hpp"

namespace replay {

/// `micros` rounded up. A number that is whole but for the last bits of its computation is that whole number: 1000 s at
/// a slowdown of 1.08 are 1080 s, although no double is 1.08. `largest` is the largest time in the computation, in
/// microseconds; a part in 10^14 of it counts as such bits. REQUIRES: the result fits into a Duration.
[[nodiscard]] inline Duration rounded_up(double micros, double largest) {
  const double nearest = std::round(micros);
  const bool is_whole = std::abs(micros - nearest) <= largest * 1e-14;
  return Duration{static_cast<std::int64_t>(is_whole ? nearest : std::ceil(micros))};
}

}  // namespace replay
