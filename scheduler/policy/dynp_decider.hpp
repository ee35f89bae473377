// Which of the three policies dynP goes on with: the deciders of the dynP paper, section 3 and Table 1. They see one number
// for each policy, lower is better, and the policy in use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace replay {

/// In the order of the paper, which is also the order in which ties are decided where nothing else decides them.
enum class DynpPolicy : std::uint8_t { kFcfs, kSjf, kLjf };
inline constexpr std::size_t kDynpPolicies = 3;

/// Lower is better; by DynpPolicy.
using DynpScores = std::array<double, kDynpPolicies>;

/// The best, ties in the order FCFS, SJF, LJF; does not know the policy in use, which is wrong in four cases of Table 1.
[[nodiscard]] DynpPolicy decide_simple(const DynpScores& scores);

/// The policy in use if it is among the best, else decide_simple().
[[nodiscard]] DynpPolicy decide_advanced(const DynpScores& scores, DynpPolicy in_use);

/// The unfair one: stays with `preferred` unless another is better by more than `threshold` of the preferred one's score; comes
/// back to it as soon as it is no worse than the policy in use; otherwise decides as decide_advanced(). REQUIRES: threshold >= 0.
[[nodiscard]] DynpPolicy decide_preferred(const DynpScores& scores, DynpPolicy in_use, DynpPolicy preferred,
                                          double threshold);

}  // namespace replay
