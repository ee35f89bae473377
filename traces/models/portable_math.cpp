// exp: x = k ln 2 + r with |r| <= ln 2 / 2, then the Taylor series of e^r. log: x = 2^k m with m around 1, then the
// series of the area hyperbolic tangent, put together as in Sun's fdlibm. ln 2 in two parts, the first with trailing
// zeros, so that k times it is exact.
#include "traces/models/portable_math.hpp"

#include <cmath>
#include <limits>

namespace replay::portable {
namespace {

constexpr double kLn2High = 0x1.62e42fefa38p-1;   // 40 bits: exact times any exponent
constexpr double kLn2Low = 0x1.ef35793c7673p-45;  // the rest
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kSqrtHalf = 0.70710678118654752440;

// e^r * 2^k for |r| <= 0.35.
double scaled_exp(double r, int k) {
  double sum = 1.0;
  for (int term = 14; term >= 1; --term) sum = 1.0 + sum * r / term;
  return std::ldexp(sum, k);  // exact but for subnormal results
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.14) return 0.0;
  const double k = std::floor(x / kLn2 + 0.5);
  return scaled_exp((x - k * kLn2High) - k * kLn2Low, static_cast<int>(k));
}

double exp2(double x) {
  if (std::isnan(x)) return x;
  if (x >= 1024) return std::numeric_limits<double>::infinity();
  if (x < -1075) return 0.0;
  const double k = std::floor(x + 0.5);
  return scaled_exp((x - k) * kLn2, static_cast<int>(k));
}

double log(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < kSqrtHalf) {
    m *= 2;
    --k;
  }
  const double f = m - 1;  // exact
  const double s = f / (m + 1);
  const double s2 = s * s;
  double series = 0.0;
  for (int odd = 25; odd >= 3; odd -= 2) series = s2 * (series + 1.0 / odd);
  // 2 s = f - f^2 / 2 + s f^2 / 2 keeps the exact f apart from what is rounded.
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + 2 * series) + k * kLn2Low)) - f);
}

double log2(double x) {
  int k = 0;
  const double m = std::frexp(x, &k);
  if (m == 0.5) return k - 1;  // powers of two are exact
  return log(x) / kLn2;
}

double pow(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1.0;
  if (base == 0) return exponent > 0 ? 0.0 : std::numeric_limits<double>::infinity();
  if (base == 2) return exp2(exponent);
  return exp(exponent * log(base));
}

}  // namespace replay::portable
