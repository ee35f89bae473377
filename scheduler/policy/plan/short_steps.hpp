// Which steps of a block of Availability have less than enough free cores, as bits of one word, and taking them one by one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "scheduler/model/units.hpp"

namespace replay {

// A bit for each of the steps [from, count), and for some before: whether it has less than `enough`. Compared as bytes,
// eight of which become bits at once; without a branch, as it cannot be predicted which steps are short.
inline std::uint64_t short_steps(const std::array<CoreCount, 64>& free, std::size_t from, std::size_t count,
                                 CoreCount enough) {
  static_assert(std::endian::native == std::endian::little, "the first of eight bytes becomes the lowest bit");
  constexpr std::size_t kAtOnce = 16;
  constexpr std::uint64_t kGather = 0x0102040810204080U;
  std::uint64_t bits = 0;
  for (std::size_t i = from / kAtOnce * kAtOnce; i < count; i += kAtOnce) {
    std::array<std::uint8_t, kAtOnce> is_short;
    for (std::size_t j = 0; j < kAtOnce; ++j) is_short[j] = free[i + j] < enough ? 1 : 0;
    std::array<std::uint64_t, 2> eight;
    std::memcpy(eight.data(), is_short.data(), sizeof eight);
    bits |= ((eight[0] * kGather >> 56U) | (eight[1] * kGather >> 56U) << 8U) << i;
  }
  return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
}

// Takes the lowest bit out. REQUIRES: there is one.
inline std::size_t take_lowest(std::uint64_t& bits) {
  const auto lowest = static_cast<std::size_t>(std::countr_zero(bits));
  bits &= bits - 1;
  return lowest;
}

}  // namespace replay
