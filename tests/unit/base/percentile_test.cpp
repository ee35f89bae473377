#include "scheduler/base/percentile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scheduler/base/mix_bits.hpp"

namespace replay {
namespace {

TEST(Percentile, InterpolatesBetweenRanks) {
  std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(percentile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(values, 1), 4);
  EXPECT_DOUBLE_EQ(percentile(values, 0.95), 3.85);
  std::vector<double> one = {7};
  EXPECT_DOUBLE_EQ(percentile(one, 0.95), 7);
  std::vector<double> none;
  EXPECT_TRUE(std::isnan(percentile(none, 0.5)));
}

TEST(Percentile, IsThatOfTheSortedValuesWhateverTheirSizesAndSigns) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 3001; ++i) {
    const double sign = i % 3 == 0 ? -1 : 1;
    values.push_back(i % 5 == 0 ? 0 : sign * std::ldexp(unit_interval(mix_bits(i)), static_cast<int>(i % 61) - 30));
  }
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  for (const double q : {0.0, 0.01, 0.2, 0.5, 0.501, 0.95, 0.999, 1.0}) {
    const double rank = q * 3000;
    const auto below = static_cast<std::size_t>(rank);
    const double next = sorted[std::min<std::size_t>(below + 1, 3000)];
    EXPECT_EQ(percentile(values, q), sorted[below] + (next - sorted[below]) * (rank - static_cast<double>(below))) << q;
  }
}

}  // namespace
}  // namespace replay
