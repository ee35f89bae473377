// The hash for values that are drawn per job: the same numbers on every machine, independent of earlier draws.
#pragma once

#include <cstdint>

namespace replay {

/// A well-mixed 64-bit hash: one step of splitmix64 (Steele, Lea and Flood 2014).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The upper 53 bits of a hash as a number in [0,1).
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace replay
