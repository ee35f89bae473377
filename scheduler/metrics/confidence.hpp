// Confidence intervals of means over several seeds: Student's t, exact for the sample sizes that occur. With trimming
// the smallest and the largest value are dropped (dynP paper, section 4: "neglecting the maximum and minimum value");
// its interval is that of the trimmed mean, by the winsorized variance (Tukey and McLaughlin 1963), as the variance of
// the remaining values would give too small an interval.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace replay::metrics {

/// The t such that one of `degrees` degrees of freedom lies within +-t with the probability `confidence`. REQUIRES:
/// 0 < confidence < 1; degrees >= 1.
[[nodiscard]] double student_t(double confidence, int degrees);

struct Estimate {
  double mean = 0;
  double half_width = 0;    ///< of the interval around it; NaN from too few values
  std::size_t values = 0;   ///< how many there were
  std::size_t dropped = 0;  ///< smallest and largest together

  [[nodiscard]] double low() const { return mean - half_width; }
  [[nodiscard]] double high() const { return mean + half_width; }
};

/// NaN if a value is, or if none is left. `trim` drops one value at each end.
[[nodiscard]] Estimate estimate(std::span<const double> values, bool trim = false, double confidence = 0.95);

/// By how much `here` exceeds `first`, pair by pair, in percent of `first`. NaN where that is zero. REQUIRES: as many
/// of each.
[[nodiscard]] std::vector<double> percent_differences(std::span<const double> first, std::span<const double> here);

}  // namespace replay::metrics
