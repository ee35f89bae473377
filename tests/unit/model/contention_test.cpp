// Tests of the slowdowns that are drawn from keys, against the percentages that the paper prints.
#include "scheduler/model/contention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "scheduler/base/mix_bits.hpp"

namespace replay {
namespace {

std::size_t bin_of(double slowdown) { return static_cast<std::size_t>(std::floor((slowdown - 0.9) * 10 + 1e-9)); }

TEST(SlowdownDistribution, IsUniformInsideItsBins) {
  EXPECT_DOUBLE_EQ(kSameNodeSlowdowns.quantile(0), 0.9);
  EXPECT_DOUBLE_EQ(kSameNodeSlowdowns.quantile(0.125), 0.95);
  EXPECT_DOUBLE_EQ(kSameNodeSlowdowns.quantile(0.25), 1.0);
  EXPECT_DOUBLE_EQ(kSameNodeSlowdowns.quantile(0.87), 1.3) << "bins of 0 % are left out";
  EXPECT_DOUBLE_EQ(kSameCpuSlowdowns.quantile(0), 1.0);
  EXPECT_NEAR(kSameCpuSlowdowns.quantile(1 - 0x1p-53), 1.7, 1e-12);
  EXPECT_NEAR(kCoSchedulingSlowdowns.quantile(1 - 0x1p-53), 1.8, 1e-12);
}

TEST(CoSchedulingSlowdown, HasTheDistributionOfTable4) {
  constexpr int kKeys = 400;
  std::array<int, 9> counts{};
  for (std::uint64_t a = 0; a < kKeys; ++a)
    for (std::uint64_t b = 0; b < kKeys; ++b) ++counts[bin_of(co_scheduling_slowdown(a, b))];
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    EXPECT_NEAR(100.0 * counts[bin] / (kKeys * kKeys), kCoSchedulingSlowdowns.percent[bin], 0.6) << bin;
}

TEST(CoSchedulingSlowdown, IsTheSameForAPairEachTimeAndAnotherForTheOtherWayRound) {
  EXPECT_EQ(co_scheduling_slowdown(7, 9), co_scheduling_slowdown(7, 9));
  double products = 0, first = 0, second = 0;
  constexpr int kPairs = 20'000;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const std::uint64_t a = mix_bits(2 * i), b = mix_bits(2 * i + 1);
    const double x = co_scheduling_slowdown(a, b), y = co_scheduling_slowdown(b, a);
    products += x * y;
    first += x;
    second += y;
  }
  const double covariance = products / kPairs - first / kPairs * (second / kPairs);
  EXPECT_NEAR(covariance, 0, 4e-4) << "the variance is 0.02; the ordered pairs are independent";
}

}  // namespace
}  // namespace replay
