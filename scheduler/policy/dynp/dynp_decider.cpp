#include "scheduler/policy/dynp/dynp_decider.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <utility>

namespace replay {
namespace {

using Fraction = DynpScore::Fraction;

// Leaves one fraction for each denominator, none of them zero.
void collect(std::vector<Fraction>& sum) {
  std::ranges::sort(sum, {}, &Fraction::per);
  std::size_t kept = 0;
  for (const Fraction& fraction : sum) {
    if (kept > 0 && sum[kept - 1].per == fraction.per)
      sum[kept - 1].value += fraction.value;
    else
      sum[kept++] = fraction;
  }
  sum.resize(kept);
  std::erase_if(sum, [](const Fraction& fraction) { return fraction.value == 0; });
}

// In floating point where that is certain, exact for ties and near-ties.
int sign_of(std::vector<Fraction> sum) {
  collect(sum);
  if (sum.empty()) return 0;
  long double rounded = 0, size = 0;
  for (const Fraction& fraction : sum) {
    const long double term = static_cast<long double>(fraction.value) / static_cast<long double>(fraction.per);
    rounded += term;
    size += std::abs(term);
  }
  constexpr long double kRounding = 1e-18L;  // bound for a term and for an addition: ten times the real one
  if (std::abs(rounded) > size * kRounding * static_cast<long double>(sum.size() + 1)) return rounded < 0 ? -1 : 1;
  boost::multiprecision::cpp_int value = 0, per = 1;
  for (const Fraction& fraction : sum) {
    value = value * fraction.per + per * fraction.value;
    per *= fraction.per;
  }
  return value.sign();
}

const DynpScore& score(const DynpScores& scores, DynpPolicy policy) { return scores[static_cast<std::size_t>(policy)]; }

const DynpScore& best(const DynpScores& scores) { return *std::ranges::min_element(scores); }

// Whether (mine - other) / |mine| > threshold.
bool is_beaten(const DynpScore& mine, const DynpScore& other, DynpThreshold threshold) {
  const Wide share = mine < DynpScore{} ? -threshold.billionths : threshold.billionths;
  return DynpScore::sign_of_difference(mine, DynpThreshold::kWhole - share, other, DynpThreshold::kWhole) > 0;
}

}  // namespace

void DynpScore::add(Wide value, Wide per) {
  if (!sum_.empty() && sum_.back().per == per)
    sum_.back().value += value;
  else
    sum_.push_back({value, per});
}

int DynpScore::sign_of_difference(const DynpScore& a, Wide x, const DynpScore& b, Wide y) {
  std::vector<Fraction> difference;
  difference.reserve(a.sum_.size() + b.sum_.size());
  for (const auto& [value, per] : a.sum_) difference.push_back({value * x, per});
  for (const auto& [value, per] : b.sum_) difference.push_back({-value * y, per});
  return sign_of(std::move(difference));
}

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
