// Tests of our own exp, log and pow against those of the C library in long double, in units in the last place of the
// result.
#include "traces/models/portable_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "traces/models/random.hpp"

namespace replay {
namespace {

double ulps(double found, long double exact) {
  const auto rounded = static_cast<double>(exact);
  const double unit = std::nextafter(std::abs(rounded), std::numeric_limits<double>::infinity()) - std::abs(rounded);
  return static_cast<double>(std::abs(found - exact) / unit);
}

constexpr int kPoints = 200'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PortableMath, ExponentialsAreWithinTwoUnits) {
  Rng rng(Seed{1}, "exp");
  for (int i = 0; i < kPoints; ++i) {
    const double x = rng.uniform() * 1400 - 700;
    ASSERT_LE(ulps(portable::exp(x), std::exp(static_cast<long double>(x))), 2) << x;
    const double small = rng.uniform() * 26 - 13;
    ASSERT_LE(ulps(portable::exp(small), std::exp(static_cast<long double>(small))), 2) << small;
    const double y = rng.uniform() * 2040 - 1020;
    ASSERT_LE(ulps(portable::exp2(y), std::exp2(static_cast<long double>(y))), 2) << y;
  }
}

TEST(PortableMath, LogarithmsAreWithinTwoUnits) {
  Rng rng(Seed{1}, "log");
  for (int i = 0; i < kPoints; ++i) {
    const double unit = rng.uniform() + 0x1p-60;
    ASSERT_LE(ulps(portable::log(unit), std::log(static_cast<long double>(unit))), 2) << unit;
    const double near_one = 0.5 + rng.uniform();
    ASSERT_LE(ulps(portable::log(near_one), std::log(static_cast<long double>(near_one))), 2) << near_one;
    ASSERT_LE(ulps(portable::log2(near_one), std::log2(static_cast<long double>(near_one))), 2) << near_one;
    const double any = std::ldexp(1 + rng.uniform(), static_cast<int>(rng.below(2000)) - 1000);
    ASSERT_LE(ulps(portable::log(any), std::log(static_cast<long double>(any))), 2) << any;
    ASSERT_LE(ulps(portable::log2(any), std::log2(static_cast<long double>(any))), 2) << any;
  }
}

TEST(PortableMath, PowersAreAsExactAsTheySay) {
  Rng rng(Seed{1}, "pow");
  for (int i = 0; i < kPoints; ++i) {
    const double base = rng.uniform() * 100 + 1e-6;
    const double exponent = rng.uniform() * 20 - 10;
    const long double exact = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    ASSERT_LE(std::abs(portable::pow(base, exponent) / exact - 1), 1e-13) << base << " " << exponent;
  }
}

TEST(PortableMath, TheEndsOfTheRangeAreInfinityZeroOrNotANumber) {
  EXPECT_EQ(portable::exp(710), kInfinity);
  EXPECT_EQ(portable::exp(-746), 0);
  EXPECT_EQ(portable::exp(-kInfinity), 0);
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_TRUE(std::isnan(portable::exp(std::nan(""))));
  EXPECT_EQ(portable::exp2(1024), kInfinity);
  EXPECT_EQ(portable::exp2(10), 1024);
  EXPECT_EQ(portable::log(0), -kInfinity);
  EXPECT_EQ(portable::log(kInfinity), kInfinity);
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  for (int k = -1000; k <= 1000; ++k) ASSERT_EQ(portable::log2(std::ldexp(1.0, k)), k);
  EXPECT_EQ(portable::pow(0, 2), 0);
  EXPECT_EQ(portable::pow(0, 0), 1);
  EXPECT_EQ(portable::pow(0, -1), kInfinity);
}

}  // namespace
}  // namespace replay
