// Draws from the gamma distribution, by Marsaglia and Tsang 2000 ("A simple method for generating gamma variables", ACM
// TOMS 26) or the way the C program of Lublin and Feitelson does it, which takes as many logarithms as the shape is
// large but is the only way to get the same jobs as that program from the same random numbers.
#pragma once

#include <cstdint>

#include "traces/models/random.hpp"

namespace replay {

enum class GammaMethod : std::uint8_t { kMarsagliaTsang, kSumOfLogs };

class GammaDistribution {
 public:
  /// Mean shape * scale, variance shape * scale^2. REQUIRES: both > 0.
  GammaDistribution(double shape, double scale, GammaMethod method);
  [[nodiscard]] double draw(UniformSource& source) const;

 private:
  [[nodiscard]] double by_rejection(UniformSource& source) const;
  [[nodiscard]] double by_logs(UniformSource& source) const;

  double shape_, scale_;
  GammaMethod method_;
};

/// Exponential of mean 1. REQUIRES of the source: uniform in [0,1), so that the logarithm's argument is above 0.
[[nodiscard]] double draw_exponential(UniformSource& source);
/// Normal of mean 0 and deviation 1, by Marsaglia's polar method; of each pair the second is thrown away, so that a
/// draw depends on nothing but the source.
[[nodiscard]] double draw_normal(UniformSource& source);

/// Logarithm of the gamma density at x > 0, but for a constant.
[[nodiscard]] double gamma_log_density(double shape, double scale, double x);

}  // namespace replay
