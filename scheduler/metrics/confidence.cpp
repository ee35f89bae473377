#include "scheduler/metrics/confidence.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "scheduler/base/error.hpp"

namespace replay::metrics {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

double mean_of(std::span<const double> values) {
  if (values.empty()) return kNothing;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

double student_t(double confidence, int degrees) {
  INVARIANT(confidence > 0 && confidence < 1, "Student's t for a confidence of {}", confidence);
  INVARIANT(degrees >= 1, "Student's t with {} degrees of freedom", degrees);
  const boost::math::students_t distribution{static_cast<double>(degrees)};
  return boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
}

double student_beyond(double t, int degrees) {
  INVARIANT(degrees >= 1, "Student's t with {} degrees of freedom", degrees);
  if (std::isnan(t)) return kNothing;
  if (std::isinf(t)) return 0;
  const boost::math::students_t distribution{static_cast<double>(degrees)};
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

Estimate estimate(std::span<const double> values, bool trim, double confidence) {
  Estimate result{kNothing, kNothing, values.size(), trim ? std::min<std::size_t>(2, values.size()) : 0};
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return result;
  std::vector<double> sorted{values.begin(), values.end()};
  std::ranges::sort(sorted);
  const std::size_t cut = trim ? 1 : 0;
  if (sorted.size() <= 2 * cut) return result;
  const std::span kept = std::span{sorted}.subspan(cut, sorted.size() - 2 * cut);
  result.mean = mean_of(kept);
  if (kept.size() < 2) return result;
  std::vector<double> winsorized = sorted;
  if (trim) {
    winsorized.front() = kept.front();
    winsorized.back() = kept.back();
  }
  const auto all = static_cast<double>(sorted.size());
  const double share_kept = static_cast<double>(kept.size()) / all;
  result.error = std::sqrt(variance_of(winsorized) / all) / share_kept;
  result.half_width = student_t(confidence, static_cast<int>(kept.size()) - 1) * result.error;
  return result;
}

double probability_by_chance(const Estimate& estimate) {
  INVARIANT(estimate.dropped == 0, "a test of a mean without {} of its values", estimate.dropped);
  if (!std::isfinite(estimate.error)) return kNothing;
  if (estimate.mean == 0) return 1;
  return student_beyond(estimate.mean / estimate.error, static_cast<int>(estimate.values) - 1);
}

std::size_t values_needed(double mean, double deviation, double confidence, std::size_t most) {
  const auto are_enough = [&](std::size_t values) {
    const double error = deviation / std::sqrt(static_cast<double>(values));
    return student_t(confidence, static_cast<int>(values) - 1) * error < std::abs(mean);
  };
  std::size_t too_few = 1, enough = 2;
  while (!are_enough(enough)) {
    if (enough >= most) return most + 1;
    too_few = enough;
    enough = std::min(2 * enough, most);
  }
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    (are_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

std::vector<double> percent_differences(std::span<const double> first, std::span<const double> here) {
  INVARIANT(first.size() == here.size(), "{} values are compared with {}", here.size(), first.size());
  std::vector<double> differences;
  differences.reserve(first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    differences.push_back(first[i] == 0 ? kNothing : (here[i] - first[i]) / first[i] * 100);
  return differences;
}

}  // namespace replay::metrics
