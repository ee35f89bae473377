// Tests of the fit on curves with known A and sigma: Downey's own values, as published.
#include "scheduler/calibrate/downey_fit.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace replay::calibrate {
namespace {

std::vector<SpeedupPoint> points(std::initializer_list<double> speedups) {
  constexpr ProcessCount kSizes[] = {1, 2, 4, 8, 10, 16, 20, 32};
  std::vector<SpeedupPoint> list;
  for (const double speedup : speedups) list.push_back({kSizes[list.size()], speedup});
  return list;
}

TEST(DowneyFit, FindsTheCurveThatThePointsAreOf) {
  struct Row {
    double a, sigma;
    std::vector<SpeedupPoint> points;
  };
  // S(1), S(2), S(4), S(8), S(10), S(16), S(20), S(32)
  const Row rows[] = {
      {10, 0.5, points({1, 1.951220, 3.720930, 6.808511, 8.163265, 9.552239, 10, 10})},
      {10, 1, points({1, 1.904762, 3.478261, 5.925926, 6.896552, 9.142857, 10, 10})},
      {10, 2, points({1, 1.875, 3.333333, 5.454545, 6.25, 8, 8.823529, 10})},
      {32, 1.209, points({1, 1.966369, 3.804777, 7.144622, 8.666037, 12.733279, 15.094759, 20.912256})}};
  for (const Row& row : rows) {
    const auto fit = fit_downey(row.points);
    ASSERT_TRUE(fit);
    EXPECT_LT(fit->residual, 1e-5);
    for (const SpeedupPoint& point : row.points)
      EXPECT_NEAR(SpeedupCurve{fit->curve}.speedup(point.processes), point.speedup, 1e-4 * point.speedup);
    if (row.a > 10) continue;  // 32 is still on the first piece, where many pairs of A and sigma give the same curve
    EXPECT_NEAR(fit->curve.a, row.a, 1e-3 * row.a) << row.sigma;
    EXPECT_NEAR(fit->curve.sigma, row.sigma, 5e-3) << row.a;
  }
}

TEST(DowneyFit, OfNoisyPointsIsNoWorseThanTheCurveTheyAreAround) {
  const SpeedupCurve truth{DowneySpeedup{12, 0.8}};
  std::vector<SpeedupPoint> list;
  double sign = 1;
  for (const ProcessCount n : {1, 2, 3, 4, 6, 8, 12, 16}) {
    list.push_back({n, truth.speedup(n) * (1 + (n == 1 ? 0 : sign * 0.02))});
    sign = -sign;
  }
  const auto fit = fit_downey(list);
  ASSERT_TRUE(fit);
  EXPECT_LE(fit->residual, 0.02);
  EXPECT_NEAR(fit->curve.a, 12, 1.5);
}

TEST(DowneyFit, LinearSpeedupNeedsNoMoreParallelismThanWasSeen) {
  const auto fit = fit_downey(std::vector<SpeedupPoint>{{1, 1}, {2, 2}, {4, 4}});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->curve.a, 4, 1e-6);
  EXPECT_NEAR(fit->curve.sigma, 0, 1e-6);
  EXPECT_LT(fit->residual, 1e-9);
}

TEST(DowneyFit, WithTwoSizesSigmaIsOne) {
  const auto fit = fit_downey(std::vector<SpeedupPoint>{{1, 1}, {2, 1.6}});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->curve.sigma, 1);
  EXPECT_NEAR(fit->curve.a, 2, 1e-4) << "S(2) = 2A / (A + 1/2)";
  EXPECT_FALSE(fit_downey(std::vector<SpeedupPoint>{{1, 1}}));
}

TEST(DowneyFit, OfAProfileNeedsTheTimeOfOneProcess) {
  const auto entry = [](const char* name, ProcessCount n, double s) {
    ProfileEntry made;
    made.benchmark = name;
    made.problem_class = "W";
    made.processes = n;
    made.command = std::string{name} + " --class W";
    made.runtime_s = {s, 0, 3};
    return made;
  };
  Profile profile;
  profile.entries = {entry("cg", 1, 4), entry("cg", 2, 2.5), entry("ep", 2, 1), entry("ep", 4, 0.5)};
  fit_speedups(profile);
  ASSERT_EQ(profile.speedups.size(), 1U) << "ep was not run with one process";
  EXPECT_EQ(profile.speedups[0].benchmark, "cg");
  EXPECT_EQ(profile.speedups[0].points, (std::vector<SpeedupPoint>{{1, 1}, {2, 1.6}}));
}

}  // namespace
}  // namespace replay::calibrate
