// The pseudo-random numbers of the NAS Parallel Benchmarks: x(k+1) = a * x(k) mod 2^46, returned as x / 2^46 in (0, 1).
// The report splits the product into 23-bit halves to stay exact in doubles; 64-bit integers give the same numbers, as
// the low 46 bits of a product are right whatever overflows. Source: Bailey et al. 1994, RNR-94-007.
#pragma once

#include <cstdint>

namespace replay::bench {

class NasRandom {
 public:
  NasRandom(std::uint64_t seed, std::uint64_t multiplier) : x_(seed), a_(multiplier) {}

  double next() {
    x_ = (a_ * x_) & kMask;
    return static_cast<double>(x_) * 0x1p-46;
  }

  /// As if next() had been called `count` times. O(log count).
  void skip(std::uint64_t count) {
    std::uint64_t power = a_;
    for (; count != 0; count >>= 1) {
      if ((count & 1) != 0) x_ = (power * x_) & kMask;
      power = (power * power) & kMask;
    }
  }

 private:
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t x_;
  std::uint64_t a_;
};

/// 5^13, the multiplier that the benchmarks use throughout.
inline constexpr std::uint64_t kNasMultiplier = 1220703125;

}  // namespace replay::bench
