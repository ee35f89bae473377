// Which of the three policies dynP goes on with: the deciders of the dynP paper, section 3 and Table 1. They see one number
// for each policy, lower is better, and the policy in use. Scores and thresholds are whole numbers, so that a tie is a tie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace replay {

/// In the order of the paper, which is also the order in which ties are decided where nothing else decides them.
enum class DynpPolicy : std::uint8_t { kFcfs, kSjf, kLjf };
inline constexpr std::size_t kDynpPolicies = 3;

/// Microseconds x processors of any queue.
__extension__ using Wide = __int128;

/// value / per, compared exactly: no rounding makes two plans of one quality different, or two different ones alike.
/// REQUIRES of two that are compared: either all `per` are 1, or values and `per` fit 63 bits.
struct DynpScore {
  constexpr DynpScore() = default;
  constexpr DynpScore(Wide number, Wide unit = 1)  // NOLINT(google-explicit-constructor): a whole number is a score
      : value(number), per(unit) {}

  Wide value = 0;
  Wide per = 1;  ///< > 0

  friend constexpr bool operator==(const DynpScore& a, const DynpScore& b) {
    return a.value * b.per == b.value * a.per;
  }
  friend constexpr auto operator<=>(const DynpScore& a, const DynpScore& b) {
    return a.value * b.per <=> b.value * a.per;
  }
};

/// Lower is better; by DynpPolicy.
using DynpScores = std::array<DynpScore, kDynpPolicies>;

/// A share of a score, to nine decimals.
struct DynpThreshold {
  static constexpr std::int64_t kWhole = 1'000'000'000;
  /// REQUIRES: 0 <= share <= 1.
  [[nodiscard]] static DynpThreshold of(double share);

  std::int64_t billionths = 0;
};

/// The best, ties in the order FCFS, SJF, LJF; does not know the policy in use, which is wrong in four cases of Table 1.
[[nodiscard]] DynpPolicy decide_simple(const DynpScores& scores);

/// The policy in use if it is among the best, else decide_simple().
[[nodiscard]] DynpPolicy decide_advanced(const DynpScores& scores, DynpPolicy in_use);

/// The unfair one: leaves `preferred` when another is better by more than `threshold` of the preferred one's score; comes back to
/// it as soon as it is no worse than the policy in use and no third one is better by more than the threshold; otherwise decides
/// as decide_advanced().
[[nodiscard]] DynpPolicy decide_preferred(const DynpScores& scores, DynpPolicy in_use, DynpPolicy preferred,
                                          DynpThreshold threshold);

}  // namespace replay
