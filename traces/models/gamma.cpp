#include "traces/models/gamma.hpp"

#include <cmath>

#include "traces/models/portable_math.hpp"

namespace replay {
namespace {

// Gamma of a shape below 1 as the C program makes it: a beta variable (Johnk 1964) times an exponential one.
double fractional_gamma(double shape, UniformSource& source) {
  double x = 0;
  double y = 0;
  do {
    x = portable::pow(source.uniform(), 1 / shape);
    y = portable::pow(source.uniform(), 1 / (1 - shape));
  } while (x + y > 1 || x + y == 0);
  return x / (x + y) * -portable::log(source.uniform());
}

}  // namespace

double draw_exponential(UniformSource& source) { return -portable::log(1 - source.uniform()); }

double draw_normal(UniformSource& source) {
  for (;;) {
    const double x = 2 * source.uniform() - 1;
    const double y = 2 * source.uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * portable::log(square) / square);
  }
}

double gamma_log_density(double shape, double scale, double x) { return (shape - 1) * portable::log(x) - x / scale; }

GammaDistribution::GammaDistribution(double shape, double scale, GammaMethod method)
    : shape_(shape), scale_(scale), method_(method) {}

double GammaDistribution::draw(UniformSource& source) const {
  return method_ == GammaMethod::kSumOfLogs ? by_logs(source) : by_rejection(source);
}

double GammaDistribution::by_rejection(UniformSource& source) const {
  const double shape = shape_ < 1 ? shape_ + 1 : shape_;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = draw_normal(source);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (portable::log(1 - source.uniform()) >= 0.5 * x * x + d - d * v + d * portable::log(v)) continue;
    // Shape below 1: gamma(a) = gamma(a + 1) U^(1/a).
    const double boost = shape_ < 1 ? portable::pow(1 - source.uniform(), 1 / shape_) : 1.0;
    return d * v * boost * scale_;
  }
}

double GammaDistribution::by_logs(UniformSource& source) const {
  const double whole = std::floor(shape_);
  double sum = 0;
  for (int i = 0; i < static_cast<int>(whole); ++i) sum += portable::log(source.uniform());
  double result = -scale_ * sum;
  if (shape_ > whole) result += scale_ * fractional_gamma(shape_ - whole, source);
  return result;
}

}  // namespace replay
