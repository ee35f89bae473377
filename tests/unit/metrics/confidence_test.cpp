#include "scheduler/metrics/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace replay::metrics {
namespace {

TEST(StudentT, HasThePublishedValues) {
  struct Value {
    double confidence;
    int degrees;
    double t;
  };
  for (const auto& [confidence, degrees, t] : {Value{0.95, 1, 12.7062047364},
                                               {0.95, 2, 4.30265272991},
                                               {0.95, 3, 3.18244630528},
                                               {0.95, 4, 2.77644510520},
                                               {0.95, 9, 2.26215716280},
                                               {0.95, 10, 2.22813885196},
                                               {0.95, 30, 2.04227245630},
                                               {0.95, 120, 1.97993040505},
                                               {0.99, 9, 3.24983554402},
                                               {0.90, 5, 2.01504837333}})
    EXPECT_NEAR(student_t(confidence, degrees), t, 1e-9 * t) << confidence << " with " << degrees;
}

TEST(StudentT, ComesToTheNormalDistributionWithManyDegrees) { EXPECT_NEAR(student_t(0.95, 1'000'000), 1.959964, 1e-5); }

// Gosset's own example (Student 1908): the hours of sleep that ten patients gained by two drugs. R's t.test() of the
// pairs gives a mean of 1.58 and the interval [0.7001142, 2.4598858].
TEST(Confidence, IsThatOfStudentsSleepData) {
  const std::vector<double> one = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> other = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  std::vector<double> gain;
  for (std::size_t i = 0; i < one.size(); ++i) gain.push_back(other[i] - one[i]);
  const Estimate estimated = estimate(gain);
  EXPECT_NEAR(estimated.mean, 1.58, 1e-12);
  EXPECT_NEAR(estimated.low(), 0.7001142, 5e-8);
  EXPECT_NEAR(estimated.high(), 2.4598858, 5e-8);
  // And t = 4.0621, p-value = 0.002833.
  EXPECT_NEAR(estimated.mean / estimated.error, 4.0621, 5e-5);
  EXPECT_NEAR(probability_by_chance(estimated), 0.002833, 5e-7);
}

// In closed form: 1 - 2 / pi * atan(t) of one degree, 1 - t / sqrt(t^2 + 2) of two.
TEST(StudentT, ItsTailsAreWhatIsBeyondItsValues) {
  EXPECT_NEAR(student_beyond(3, 1), 1 - 2 / 3.14159265358979 * std::atan(3), 1e-12);
  EXPECT_NEAR(student_beyond(-4, 2), 1 - 4 / std::sqrt(18), 1e-12);
  EXPECT_NEAR(student_beyond(student_t(0.99, 7), 7), 0.01, 1e-12);
  EXPECT_EQ(student_beyond(std::numeric_limits<double>::infinity(), 3), 0);
  EXPECT_TRUE(std::isnan(student_beyond(std::numeric_limits<double>::quiet_NaN(), 3)));
}

TEST(Confidence, AMeanIsByChanceAsItsIntervalSays) {
  EXPECT_EQ(probability_by_chance(estimate(std::vector<double>{0, 0, 0})), 1);
  EXPECT_EQ(probability_by_chance(estimate(std::vector<double>{2, 2, 2})), 0) << "it never varies";
  EXPECT_TRUE(std::isnan(probability_by_chance(estimate(std::vector<double>{2}))));
  const std::vector<double> values = {1, 2, 4, 8};
  const double chance = probability_by_chance(estimate(values));
  EXPECT_NEAR(estimate(values, false, 1 - chance).low(), 0, 1e-9);
}

// By the table of t: of 17 values 2.1199 * 2 / sqrt(17) = 1.0283, of 18 it is 2.1098 * 2 / sqrt(18) = 0.9946.
TEST(Confidence, SaysHowManyValuesItTakes) {
  EXPECT_EQ(values_needed(1, 2, 0.95, 1000), 18u);
  EXPECT_EQ(values_needed(-1, 2, 0.95, 1000), 18u);
  EXPECT_EQ(values_needed(1, 2, 0.95, 17), 18u) << "more than 17";
  EXPECT_EQ(values_needed(1, 0, 0.95, 1000), 2u);
  EXPECT_EQ(values_needed(0, 2, 0.95, 1000), 1001u);
  EXPECT_EQ(values_needed(0, 0, 0.95, 1000), 1001u);
}

// The mean of 2, 3 and 4; winsorized the values are 2, 2, 3, 4, 4 with variance 1, so that the error is
// sqrt(1/5) / (3/5) = 0.745356, times 4.302653, the t of two degrees.
TEST(Confidence, TrimmingDropsTheSmallestAndTheLargest) {
  const Estimate trimmed = estimate(std::vector<double>{100, 4, 1, 3, 2}, true);
  EXPECT_DOUBLE_EQ(trimmed.mean, 3);
  EXPECT_NEAR(trimmed.half_width, 3.2070084, 1e-6);
  EXPECT_EQ(trimmed.values, 5u);
  EXPECT_EQ(trimmed.dropped, 2u);
}

TEST(Confidence, WhatCannotBeHadIsNotANumber) {
  EXPECT_TRUE(std::isnan(estimate({}).mean));
  const Estimate one = estimate(std::vector<double>{7});
  EXPECT_EQ(one.mean, 7);
  EXPECT_TRUE(std::isnan(one.half_width));
  EXPECT_TRUE(std::isnan(estimate(std::vector<double>{1, 2}, true).mean)) << "both are dropped";
  EXPECT_EQ(estimate(std::vector<double>{1, 5, 2}, true).mean, 2);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(estimate(std::vector<double>{1, nothing, 2}).mean));
}

TEST(Confidence, EqualValuesHaveAnIntervalOfNoWidth) {
  const Estimate equal = estimate(std::vector<double>{3, 3, 3});
  EXPECT_EQ(equal.mean, 3);
  EXPECT_EQ(equal.half_width, 0);
}

// Each seed against itself: the seeds differ by far more than the policies do, and the interval does not show it.
TEST(PercentDifferences, AreSeedBySeed) {
  const std::vector<double> first = {10, 1000, 100};
  const std::vector<double> here = {9, 880, 91};
  const std::vector<double> percent = percent_differences(first, here);
  ASSERT_EQ(percent.size(), 3u);
  EXPECT_DOUBLE_EQ(percent[0], -10);
  EXPECT_DOUBLE_EQ(percent[1], -12);
  EXPECT_DOUBLE_EQ(percent[2], -9);
  const Estimate estimated = estimate(percent);
  EXPECT_LT(estimated.high(), 0);
  EXPECT_NEAR(estimated.half_width, 4.30265272991 * std::sqrt((1.0 / 9 + 25.0 / 9 + 16.0 / 9) / 2 / 3), 1e-9);
  EXPECT_TRUE(std::isnan(percent_differences(std::vector<double>{0}, std::vector<double>{1})[0]));
}

}  // namespace
}  // namespace replay::metrics
