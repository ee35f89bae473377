#include "scheduler/policy/plan/cost_bound.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace replay {
namespace {

// Ascends with x: its exponent and the first three bits of its mantissa. REQUIRES: x > 0.
std::size_t class_of(double x, std::size_t classes) {
  constexpr std::uint64_t kBelowOne = std::uint64_t{1023 - 24} << 3U;  // weights may be larger than areas
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) >> 49U;
  return std::min<std::size_t>(bits < kBelowOne ? 0 : bits - kBelowOne, classes - 1);
}

}  // namespace

void CostBound::clear() {
  for (std::size_t i = first_; i <= last_ && i < kClasses; ++i) classes_[i] = {};
  first_ = kClasses;
  last_ = 0;
  half_ = 0;
}

void CostBound::add(CoreCount cores, Duration length, double weight) {
  if (length <= Duration::zero()) return;  // no area: it can start at once
  const auto p = static_cast<double>(length.count());
  const double area = p * cores;
  const double per_weight = area / weight;
  const std::size_t which = class_of(per_weight, kClasses);
  classes_[which].area += area;
  classes_[which].slowest = std::max(classes_[which].slowest, per_weight);
  first_ = std::min(first_, which);
  last_ = std::max(last_, which);
  half_ += weight * p / 2;
}

double CostBound::least(const Availability& free, Instant begin) const {
  constexpr double kRounding = 1e-9;  // of the terms: far more than their rounding errors
  double sum = 0;
  double moment = 0;  // of the class at hand
  std::size_t which = first_;
  double left = which < kClasses ? classes_[which].area : 0;
  bool fits = which >= kClasses;
  free.for_each_step([&](Instant from, Instant to, CoreCount cores) {
    if (from >= kEndOfPlans) return false;
    if (fits) return false;
    if (to <= begin || cores == 0) return true;
    auto at = static_cast<double>((std::max(from, begin) - begin).count());
    const auto end = static_cast<double>((std::min(to, kEndOfPlans) - begin).count());
    for (;;) {
      const double used = std::min(left / cores, end - at);  // so much of the step goes to this class
      moment += cores * used * (at + used / 2);
      left -= cores * used;
      at += used;
      if (at >= end && left > 0) return true;
      sum += moment / classes_[which].slowest;
      moment = 0;
      for (++which; which <= last_ && classes_[which].area == 0;) ++which;
      if (which > last_) break;
      left = classes_[which].area;
    }
    fits = true;
    return false;
  });
  if (!fits) return -std::numeric_limits<double>::infinity();
  return sum - half_ - kRounding * (sum + half_);
}

}  // namespace replay
