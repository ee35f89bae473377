// Tests of the forecast of SCOJO-P: what is expected to be submitted, by hand.
#include "scheduler/policy/moldable/forecast.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

constexpr Duration kDay = 24h;

SeenJob seen(const TracedJob& traced) { return seen_job(classed(traced.job, 8, Aging::kTop), 8); }

// Four jobs at 0 with N = 4 and 100 s; a day later the slot has been watched once: 4 jobs in 1800 s.
TEST(Forecast, OfThePastIsThatOfTheGoldenCase) {
  const TracedJob job =
      test::job('A').cores(4).runs(100s).moldable(SpeedupCurve{ThreePointSpeedup{.optimum = 4}}, 2, 8);
  Forecast forecast{8};
  for (int i = 0; i < 4; ++i) forecast.add(seen(job), 0s);
  EXPECT_EQ(forecast.expected_work(kDay, 900s, 1), 0) << "nothing has been watched";
  forecast.watch(0s, kDay);
  EXPECT_NEAR(forecast.expected_work(kDay, 900s, 1), 800e6, 1) << "2 jobs of 4 cores for 100 s";
  EXPECT_NEAR(forecast.expected_work(kDay, Duration{806'896'552}, 1.4727272727) / 1e6, 952.40, 0.01);
  EXPECT_EQ(forecast.expected_work(kDay + 30min, 900s, 1), 0) << "none came in the second half hour";
  EXPECT_EQ(forecast.expected_work(-30min, 900s, 1), 0) << "nor in the last one of the day";
}

TEST(Forecast, ExpectsNothingWhereNothingWasWatched) {
  Forecast forecast{8};
  forecast.add(seen(test::job('A').cores(4).runs(100s)), 0s);
  forecast.watch(0s, 10min);
  // One job in 10 min: two in the 20 min that are left of the slot, none in the slots behind it.
  EXPECT_NEAR(forecast.expected_work(10min, 20min, 1), 800e6, 1);
  EXPECT_NEAR(forecast.expected_work(10min, 2h, 1), 800e6, 1);
}

// One job an hour, at half past, for nine days and a bit: slot by slot, as the definition says.
TEST(Forecast, OfManyDaysIsTheSumOfTheSlots) {
  const TracedJob job = test::job('A').cores(4).runs(30h).rigid();
  Forecast forecast{8};
  for (int hour = 0; hour < 24; ++hour) forecast.add(seen(job), hour * 1h + 30min);
  forecast.watch(0s, kDay);
  const Duration now = kDay + 10min, length = 220h + 7min;
  double expected = 0;
  for (Duration begin = now; begin < now + length;) {
    const Duration of_day = begin % kDay;
    const Duration end = std::min(begin + (kForecastSlot - of_day % kForecastSlot), now + length);
    const auto part = static_cast<double>((end - begin).count());
    const double left = static_cast<double>((now + length - begin).count()) - part / 2;
    if (of_day / kForecastSlot % 2 == 1) expected += part / 1800e6 * 4 * std::min(30 * 3600e6, left);
    begin = end;
  }
  EXPECT_NEAR(forecast.expected_work(now, length, 1) / expected, 1, 1e-12);
}

TEST(Forecast, WatchesEachSlotAsOftenAsItPassed) {
  Forecast forecast{8};
  forecast.watch(-10min, 3 * kDay + 40min);
  EXPECT_EQ(forecast.watched(0), 4 * kForecastSlot);
  EXPECT_EQ(forecast.watched(1), 3 * kForecastSlot + 10min);
  EXPECT_EQ(forecast.watched(2), 3 * kForecastSlot);
  EXPECT_EQ(forecast.watched(47), 3 * kForecastSlot + 10min);
}

TEST(Forecast, AClassWithDowneysCurveHasItsMean) {
  const auto downey = [](double a, double sigma) { return SpeedupCurve{DowneySpeedup{a, sigma}}; };
  Forecast forecast{8};
  forecast.add(seen(test::job('A').cores(4).runs(100s).moldable(downey(4, 0), 1, 6)), 0s);
  forecast.watch(0s, 30min);
  // Sigma 0: linear up to A = 4, which is the working set; half the modifier is half the size for twice the time.
  EXPECT_NEAR(forecast.expected_work(0s, 30min, 0.5), 200e6 * 2, 1);
  EXPECT_NEAR(forecast.expected_work(0s, 30min, 4), 100e6 * 6, 1) << "6 processors at most, no faster than 4";
}

}  // namespace
}  // namespace replay::test
