#include "scheduler/policy/dynp_decider.hpp"

#include <algorithm>
#include <cmath>

namespace replay {
namespace {

double score(const DynpScores& scores, DynpPolicy policy) { return scores[static_cast<std::size_t>(policy)]; }

double best(const DynpScores& scores) { return *std::ranges::min_element(scores); }

}  // namespace

DynpPolicy decide_simple(const DynpScores& scores) {
  return static_cast<DynpPolicy>(std::ranges::min_element(scores) - scores.begin());
}

DynpPolicy decide_advanced(const DynpScores& scores, DynpPolicy in_use) {
  return score(scores, in_use) <= best(scores) ? in_use : decide_simple(scores);
}

DynpPolicy decide_preferred(const DynpScores& scores, DynpPolicy in_use, DynpPolicy preferred, double threshold) {
  const double mine = score(scores, preferred);
  if (mine <= score(scores, in_use) && mine - best(scores) <= threshold * std::abs(mine)) return preferred;
  return decide_advanced(scores, in_use);
}

}  // namespace replay
