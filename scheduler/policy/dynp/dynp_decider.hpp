// The deciders of the dynP paper, section 3 and Table 1: which of the three policies dynP uses next. Their input is one
// number for each policy, lower is better, and the policy in use. Scores and thresholds are exact, so that ties are
// found.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace replay {

/// In the order of the paper, which is also the order in which ties are decided where nothing else decides them.
enum class DynpPolicy : std::uint8_t { kFcfs, kSjf, kLjf };
inline constexpr std::size_t kDynpPolicies = 3;

/// Wide enough for microseconds x processors of any queue.
__extension__ using Wide = __int128;

/// A sum of fractions, compared exactly: plans tie often, and rounding would decide for one of them.
class DynpScore {
 public:
  struct Fraction {
    Wide value;
    Wide per;  ///< > 0
  };

  DynpScore() = default;
  DynpScore(Wide value, Wide per = 1) { add(value, per); }  // NOLINT(google-explicit-constructor): a number is a score
  /// REQUIRES: per > 0; values and what they are multiplied with fit.
  void add(Wide value, Wide per);

  /// -1, 0 or 1: the sign of a * x - b * y. O(fractions log fractions), and more only where they are nearly equal.
  [[nodiscard]] static int sign_of_difference(const DynpScore& a, Wide x, const DynpScore& b, Wide y);

  friend bool operator==(const DynpScore& a, const DynpScore& b) { return sign_of_difference(a, 1, b, 1) == 0; }
  friend std::strong_ordering operator<=>(const DynpScore& a, const DynpScore& b) {
    return sign_of_difference(a, 1, b, 1) <=> 0;
  }

 private:
  std::vector<Fraction> sum_;
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

/// The best, ties in the order FCFS, SJF, LJF; ignores the policy in use, which is wrong in four cases of Table 1.
[[nodiscard]] DynpPolicy decide_simple(const DynpScores& scores);

/// The policy in use if it is among the best, else decide_simple().
[[nodiscard]] DynpPolicy decide_advanced(const DynpScores& scores, DynpPolicy in_use);

/// The unfair decider: leaves `preferred` when another is better by more than `threshold` of the preferred one's score;
/// comes back to it as soon as it is no worse than the policy in use and no third one is better by more than the
/// threshold; otherwise decides as decide_advanced().
[[nodiscard]] DynpPolicy decide_preferred(const DynpScores& scores, DynpPolicy in_use, DynpPolicy preferred,
                                          DynpThreshold threshold);

}  // namespace replay
