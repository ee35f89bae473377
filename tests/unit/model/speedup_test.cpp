// Tests of speedup curves: against published values, where their pieces meet, and as text.
#include "scheduler/model/speedup.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace replay {
namespace {

SpeedupCurve downey(double a, double sigma) { return SpeedupCurve{DowneySpeedup{a, sigma}}; }
SpeedupCurve three_point(ProcessCount n) { return SpeedupCurve{ThreePointSpeedup{.optimum = n}}; }

// The definition by exhaustive search: the result that working_set() must find.
ProcessCount least_by_trying(const SpeedupCurve& curve, ProcessCount most) {
  ProcessCount best = 1;
  const auto cost = [&](ProcessCount n) { return n / (curve.speedup(n) * curve.speedup(n)); };
  for (ProcessCount n = 2; n <= most; ++n)
    if (cost(n) < cost(best)) best = n;
  return best;
}

TEST(DowneySpeedup, HasThePublishedValues) {
  constexpr double kSizes[] = {1, 2, 4, 8, 10, 16, 20, 32};
  struct Row {
    double a, sigma, speedup[8];
  };
  constexpr Row kRows[] = {{10, 0.5, {1, 1.951220, 3.720930, 6.808511, 8.163265, 9.552239, 10, 10}},
                           {10, 1, {1, 1.904762, 3.478261, 5.925926, 6.896552, 9.142857, 10, 10}},
                           {10, 2, {1, 1.875, 3.333333, 5.454545, 6.25, 8, 8.823529, 10}},
                           {32, 1.209, {1, 1.966369, 3.804777, 7.144622, 8.666037, 12.733279, 15.094759, 20.912256}}};
  for (const Row& row : kRows)
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(downey(row.a, row.sigma).speedup(kSizes[i]), row.speedup[i], 5e-7)
          << "A " << row.a << " sigma " << row.sigma << " n " << kSizes[i];
}

TEST(DowneySpeedup, PiecesMeetAndBothBranchesAgreeAtSigmaOne) {
  for (const double a : {1.0, 1.7, 10.0, 123.4})
    for (const double sigma : {0.0, 0.3, 1.0, 1.5, 4.0}) {
      const SpeedupCurve curve = downey(a, sigma);
      EXPECT_DOUBLE_EQ(curve.speedup(1), 1);
      for (const double joint : {a, 2 * a - 1, a + a * sigma - sigma})
        EXPECT_NEAR(curve.speedup(joint), curve.speedup(joint * (1 + 1e-12)), 1e-8 * a) << a << " " << sigma;
    }
  for (const double n : {1.0, 3.0, 10.0, 12.0, 19.0, 30.0})
    EXPECT_NEAR(downey(10, 1).speedup(n), downey(10, 1 + 1e-13).speedup(n), 1e-11) << n;
}

TEST(DowneySpeedup, WithoutVarianceIsLinearUpToA) {
  for (const double n : {1.0, 5.0, 10.0, 11.0, 100.0}) EXPECT_DOUBLE_EQ(downey(10, 0).speedup(n), std::min(n, 10.0));
}

TEST(DowneySpeedup, GrowsUpToTheLargestUsefulSizeAndNoFurther) {
  for (const auto& [a, sigma, size] :
       {std::tuple{10.0, 0.5, 19}, {10.5, 1.0, 20}, {10.0, 2.0, 28}, {32.0, 1.209, 70}}) {
    const SpeedupCurve curve = downey(a, sigma);
    ASSERT_EQ(curve.largest_useful(), size) << a << " " << sigma;
    EXPECT_LT(curve.speedup(size - 1), a);
    EXPECT_DOUBLE_EQ(curve.speedup(size), a);
    EXPECT_DOUBLE_EQ(curve.speedup(10 * size), a);
  }
  EXPECT_EQ(downey(1e9, 3).largest_useful(), std::nullopt) << "more than can be counted";
}

TEST(ThreePointSpeedup, HasTheRuntimeRatiosOfTheScojoPaper) {
  for (const ProcessCount n : {2, 8, 64}) {
    const SpeedupCurve curve = three_point(n);
    EXPECT_DOUBLE_EQ(curve.runtime_ratio(n, n / 2), 1.625) << "Table 1";
    EXPECT_DOUBLE_EQ(curve.runtime_ratio(n, 2 * n), 0.8125) << "Table 1";
    EXPECT_DOUBLE_EQ(curve.speedup(1.5 * n), (0.65 * n + 0.8 * n) / 2) << "linear between the points";
    EXPECT_DOUBLE_EQ(curve.speedup(3 * n), curve.speedup(2 * n));
    EXPECT_EQ(curve.largest_useful(), 2 * n);
  }
  // sigma = (S_max - S_opt) / (S_opt - 1)
  const auto sigma = [](ProcessCount n) {
    const SpeedupCurve curve = three_point(n);
    return (curve.speedup(2 * n) - curve.speedup(n)) / (curve.speedup(n) - 1);
  };
  EXPECT_NEAR(sigma(2), 1, 1e-12);
  EXPECT_NEAR(sigma(4), 0.375, 1e-12) << "the paper's 0.46 is a slip";
  EXPECT_NEAR(sigma(8), 0.29, 0.005);
}

TEST(ThreePointSpeedup, PointsLieAtRealAbscissae) {
  const SpeedupCurve of_three = three_point(3);  // first point at 1.5
  EXPECT_DOUBLE_EQ(of_three.speedup(1.5), 0.8 * 1.5);
  EXPECT_DOUBLE_EQ(of_three.speedup(2), 1.2 + 0.5 * (1.95 - 1.2) / 1.5);
  EXPECT_DOUBLE_EQ(of_three.speedup(1), 0.8) << "as efficient as at the first point";
}

TEST(WorkingSet, IsTheOptimumOfThreePointsAndTheMachineForLinearJobs) {
  for (const ProcessCount n : {1, 2, 3, 7, 64}) EXPECT_EQ(three_point(n).working_set(128), n);
  EXPECT_EQ(three_point(100).working_set(64), least_by_trying(three_point(100), 64));
  EXPECT_EQ(SpeedupCurve{}.working_set(128), 128);
  EXPECT_EQ(SpeedupCurve{}.working_set(1), 1);
}

TEST(WorkingSet, IsTheFirstSizeWithTheLeastRuntimeOverEfficiency) {
  for (const double a : {1.0, 1.4, 3.0, 10.3, 57.9, 128.0, 500.0})
    for (const double sigma : {0.0, 0.2, 0.85, 1.0, 1.209, 2.6, 5.5})
      for (const ProcessCount most : {1, 2, 31, 128, 300})
        EXPECT_EQ(downey(a, sigma).working_set(most), least_by_trying(downey(a, sigma), most))
            << "A " << a << " sigma " << sigma << " most " << most;
}

TEST(SpeedupText, IsReadBackExactly) {
  const double third = 1.0 / 3;
  for (const SpeedupCurve& curve : {SpeedupCurve{}, downey(10, 0.5), downey(1 + third, third), three_point(7),
                                    SpeedupCurve{ThreePointSpeedup{.optimum = 5, .efficiency = {1, 0.7, third}}}}) {
    const auto again = parse_speedup(to_text(curve));
    ASSERT_TRUE(again.has_value()) << to_text(curve);
    EXPECT_EQ(*again, curve) << to_text(curve);
  }
  EXPECT_EQ(to_text(downey(10, 0.5)), "downey:a=10:sigma=0.5");
  EXPECT_EQ(to_text(three_point(8)), "three-point:n=8");
}

TEST(SpeedupText, RefusesWhatIsNoCurve) {
  for (const char* text : {"",
                           "lineal",
                           "linear:",
                           "downey",
                           "downey:",
                           "downey:a=0.5:sigma=1",
                           "downey:a=2:sigma=-1",
                           "downey:a=nan:sigma=1",
                           "downey:a=inf:sigma=1",
                           "downey:a=2",
                           "downey:sigma=1:a=2",
                           "downey:a=2:sigma=1:",
                           "downey:a=2:sigma=1:x=3",
                           "three-point:n=0",
                           "three-point:n=1.5",
                           "three-point:n=3000000000",
                           "three-point:n=4:e=1/1",
                           "three-point:n=4:e=0.8/0.6/0",
                           "three-point:n=4:e=0.8/0.6/1.2",
                           "three-point:n=4:e=0.8/0.6/0.4/0.2",
                           "four-point:n=4"})
    EXPECT_EQ(parse_speedup(text), std::nullopt) << text;
}

}  // namespace
}  // namespace replay
