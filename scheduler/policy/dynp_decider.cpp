#include "scheduler/policy/dynp_decider.hpp"

#include <algorithm>
#include <cmath>

namespace replay {
namespace {

const DynpScore& score(const DynpScores& scores, DynpPolicy policy) { return scores[static_cast<std::size_t>(policy)]; }

const DynpScore& best(const DynpScores& scores) { return *std::ranges::min_element(scores); }

// (mine - other) / |mine| > threshold, exactly. Both sides times |mine| and both denominators; the share is taken of quotient and
// remainder apart, so that nothing overflows.
bool is_beaten(const DynpScore& mine, const DynpScore& other, DynpThreshold threshold) {
  const Wide gap = mine.value * other.per - other.value * mine.per;
  const Wide whole = (mine.value < 0 ? -mine.value : mine.value) * other.per;
  const Wide share = whole / DynpThreshold::kWhole * threshold.billionths;
  const Wide rest = whole % DynpThreshold::kWhole * threshold.billionths;  // in billionths
  return gap - share > rest / DynpThreshold::kWhole;  // whole numbers on the left: the fraction does not matter
}

}  // namespace

DynpThreshold DynpThreshold::of(double share) { return {std::llround(share * static_cast<double>(kWhole))}; }

DynpPolicy decide_simple(const DynpScores& scores) {
  return static_cast<DynpPolicy>(std::ranges::min_element(scores) - scores.begin());
}

DynpPolicy decide_advanced(const DynpScores& scores, DynpPolicy in_use) {
  return score(scores, in_use) <= best(scores) ? in_use : decide_simple(scores);
}

DynpPolicy decide_preferred(const DynpScores& scores, DynpPolicy in_use, DynpPolicy preferred,
                            DynpThreshold threshold) {
  const DynpScore& mine = score(scores, preferred);
  if (mine <= score(scores, in_use) && !is_beaten(mine, best(scores), threshold)) return preferred;
  return decide_advanced(scores, in_use);
}

}  // namespace replay
