// The powers of two around a number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace replay {

/// The largest k with 2^k <= n; 0 if n < 1.
[[nodiscard]] constexpr std::size_t log2_below(int n) {
  return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(std::max(n, 1))) - 1);
}

/// The smallest k with n <= 2^k.
[[nodiscard]] constexpr std::size_t log2_above(int n) {
  return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(std::max(n, 1) - 1)));
}

}  // namespace replay
