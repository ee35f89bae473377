// Confidence intervals of means over several seeds: Student's t, exact for the sample sizes that occur. With trimming
// the smallest and the largest value are dropped (dynP paper, section 4: "neglecting the maximum and minimum value");
// its interval is that of the trimmed mean, by the winsorized variance (Tukey and McLaughlin 1963), as the variance of
// the remaining values would give too small an interval.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace replay::metrics {

/// The t such that one of `degrees` degrees of freedom lies within +-t with the probability `confidence`. REQUIRES:
/// 0 < confidence < 1; degrees >= 1.
[[nodiscard]] double student_t(double confidence, int degrees);

/// The probability that one of `degrees` degrees of freedom lies beyond +-`t`. NaN of NaN. REQUIRES: degrees >= 1.
[[nodiscard]] double student_beyond(double t, int degrees);

struct Estimate {
  double mean = 0;
  double half_width = 0;                                    ///< of the interval around it; NaN from too few values
  std::size_t values = 0;                                   ///< how many there were
  std::size_t dropped = 0;                                  ///< smallest and largest together
  double error = std::numeric_limits<double>::quiet_NaN();  ///< standard error of the mean; NaN from too few values

  [[nodiscard]] double low() const { return mean - half_width; }
  [[nodiscard]] double high() const { return mean + half_width; }
};

/// NaN if a value is, or if none is left. `trim` drops one value at each end.
[[nodiscard]] Estimate estimate(std::span<const double> values, bool trim = false, double confidence = 0.95);

/// The probability of a mean as far from 0, or farther, where the true one is 0: the interval of the confidence 1 - p just
/// touches 0. 1 if all values are 0; NaN from fewer than two. REQUIRES: nothing was dropped.
[[nodiscard]] double probability_by_chance(const Estimate& estimate);

/// The fewest values, at least two, of which the interval around `mean` leaves out 0 if they vary by the standard `deviation`.
/// `most` + 1 if it takes more than `most`, as where the mean is 0. REQUIRES: deviation >= 0; `most` >= 2.
[[nodiscard]] std::size_t values_needed(double mean, double deviation, double confidence, std::size_t most);

/// By how much `here` exceeds `first`, pair by pair, in percent of `first`. NaN where that is zero. REQUIRES: as many
/// of each.
[[nodiscard]] std::vector<double> percent_differences(std::span<const double> first, std::span<const double> here);

}  // namespace replay::metrics
