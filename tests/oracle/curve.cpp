#include "tests/oracle/curve.hpp"

namespace replay::oracle {
namespace {

__extension__ using Wide = __int128;

// In lowest terms; the lower part is positive.
struct Fraction {
  Wide upper = 0;
  Wide lower = 1;
};

Fraction fraction(Wide upper, Wide lower = 1) {
  Wide a = upper < 0 ? -upper : upper;
  for (Wide b = lower; b != 0;) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return {upper / a, lower / a};
}

Fraction operator+(Fraction x, Fraction y) {
  return fraction(x.upper * y.lower + y.upper * x.lower, x.lower * y.lower);
}
Fraction operator-(Fraction x, Fraction y) { return x + Fraction{-y.upper, y.lower}; }
Fraction operator*(Fraction x, Fraction y) { return fraction(x.upper * y.upper, x.lower * y.lower); }
Fraction operator/(Fraction x, Fraction y) { return fraction(x.upper * y.lower, x.lower * y.upper); }  // y > 0
bool operator<=(Fraction x, Fraction y) { return x.upper * y.lower <= y.upper * x.lower; }

// What exceeds a whole number by a part in 10^14 at most counts as that number: floating point could not tell.
constexpr Wide kNoise = 100'000'000'000'000;

const Fraction kOne = fraction(1);
const Fraction kTwo = fraction(2);

Fraction downey(Fraction a, Fraction sigma, Fraction n) {
  if (sigma <= kOne) {
    if (n <= a) return a * n / (a + sigma * (n - kOne) / kTwo);
    if (n <= kTwo * a - kOne) return a * n / (sigma * (a - kOne / kTwo) + n * (kOne - sigma / kTwo));
    return a;
  }
  if (n <= a + a * sigma - sigma) return n * a * (sigma + kOne) / (sigma * (n + a - kOne) + a);
  return a;
}

// Through the points (N/2, E1 N/2), (N, E2 N), (2N, E3 2N): before the first the efficiency stays, behind the last the
// speedup does.
Fraction three_point(const Curve& curve, Fraction n) {
  const Fraction middle = fraction(curve.optimum);
  const std::array x{middle / kTwo, middle, kTwo * middle};
  const auto efficiency = [&](std::size_t point) { return fraction(curve.efficiency[point], 100); };
  if (n <= x[0]) return efficiency(0) * n;
  if (x[2] <= n) return efficiency(2) * x[2];
  const std::size_t left = n <= x[1] ? 0 : 1;
  const Fraction low = efficiency(left) * x[left];
  const Fraction high = efficiency(left + 1) * x[left + 1];
  return low + (high - low) * (n - x[left]) / (x[left + 1] - x[left]);
}

Fraction speedup(const Curve& curve, int processes) {
  const Fraction n = fraction(processes);
  switch (curve.law) {
    case Curve::Law::kDowney: return downey(fraction(curve.a, 100), fraction(curve.sigma, 100), n);
    case Curve::Law::kThreePoint: return three_point(curve, n);
    case Curve::Law::kLinear: break;
  }
  return n;
}

// 65 is "0.65", 1050 is "10.50".
std::string hundredths(int number) {
  const std::string rest = std::to_string(100 + number % 100);
  return std::to_string(number / 100) + '.' + rest.substr(1);
}

}  // namespace

std::string as_cell(const Curve& curve) {
  switch (curve.law) {
    case Curve::Law::kDowney: return "downey:a=" + hundredths(curve.a) + ":sigma=" + hundredths(curve.sigma);
    case Curve::Law::kThreePoint: {
      const auto& e = curve.efficiency;
      return "three-point:n=" + std::to_string(curve.optimum) + ":e=" + hundredths(e[0]) + '/' + hundredths(e[1]) +
             '/' + hundredths(e[2]);
    }
    case Curve::Law::kLinear: break;
  }
  return "linear";
}

std::int64_t time_at(const Curve& curve, std::int64_t time, int from, int to) {
  const Fraction exact = fraction(time) * speedup(curve, from) / speedup(curve, to);
  const Wide whole = exact.upper / exact.lower;
  const Wide rest = exact.upper % exact.lower;
  return static_cast<std::int64_t>(rest * kNoise <= exact.upper ? whole : whole + 1);
}

int working_set(const Curve& curve, int cores) {
  const auto cost = [&](int n) { return fraction(n) / (speedup(curve, n) * speedup(curve, n)); };
  int best = 1;
  for (int n = 2; n <= cores; ++n)
    if (!(cost(best) <= cost(n))) best = n;
  return best;
}

long double speed_ratio(const Curve& curve, int from, int to) {
  const Fraction exact = speedup(curve, to) / speedup(curve, from);
  return static_cast<long double>(exact.upper) / static_cast<long double>(exact.lower);
}

}  // namespace replay::oracle
