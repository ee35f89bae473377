// Tests of axes: ticks at round values with their units, where the values lie.
#include "scheduler/report/draw/axis.hpp"

#include <gtest/gtest.h>

namespace replay::report {
namespace {

std::string labels_of(const Axis& axis) {
  std::string text;
  for (const Tick& tick : axis.ticks)
    if (!tick.label.empty()) text += (text.empty() ? "" : " ") + tick.label;
  return axis.name + ": " + text;
}

TEST(Axis, StepsAreRoundAndFew) {
  EXPECT_DOUBLE_EQ(nice_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(101, 5), 25);
  EXPECT_DOUBLE_EQ(nice_step(5, 5), 1);
  EXPECT_DOUBLE_EQ(nice_step(0.03, 5), 0.01);
  EXPECT_DOUBLE_EQ(nice_step(600, 5), 200);
}

TEST(Axis, CountsHaveWholeSteps) {
  EXPECT_EQ(labels_of(value_axis("jobs", 3, 5, true)), "jobs: 0 1 2 3");
  EXPECT_EQ(labels_of(value_axis("jobs", 9, 4, true)), "jobs: 0 5 10");
  EXPECT_EQ(labels_of(value_axis("share", 1, 5)), "share: 0 0.2 0.4 0.6 0.8 1");
  EXPECT_EQ(labels_of(value_axis("jobs", 0, 4, true)), "jobs: 0 1");
}

TEST(Axis, TimesHaveTheUnitOfTheirSpanAndStepsOfClockAndCalendar) {
  EXPECT_EQ(labels_of(time_axis("time", 0, 92, 6)), "time, s: 0 20 40 60 80");
  EXPECT_EQ(labels_of(time_axis("time", 0, 3600, 6)), "time, min: 0 10 20 30 40 50 60");
  EXPECT_EQ(labels_of(time_axis("time", 36 * 3600, 60 * 3600, 6)), "time, h: 36 40 44 48 52 56 60");
  EXPECT_EQ(labels_of(time_axis("time", 934, 90 * 86400.0, 7)), "time, days: 14 28 42 56 70 84");
}

TEST(Axis, LogarithmicOnesGoFromARoundValueToAnother) {
  const Axis values = log_axis("slowdown", 1, 12'000, false);
  EXPECT_DOUBLE_EQ(values.low, 1);
  EXPECT_DOUBLE_EQ(values.high, 20'000);
  EXPECT_EQ(labels_of(values), "slowdown: 1 10 100 1000 10000");
  EXPECT_DOUBLE_EQ(values.share(1), 0);
  EXPECT_DOUBLE_EQ(values.share(20'000), 1);
  const Axis times = log_axis("wait", 45, 50'000, true);
  EXPECT_EQ(labels_of(times), "wait: 10 s 1 min 10 min 1 h 10 h 10 d");
  EXPECT_DOUBLE_EQ(times.low, 10);
  EXPECT_DOUBLE_EQ(times.high, 864'000);
}

TEST(Plot, ValuesLieBetweenTheEdges) {
  const Plot plot{.area = {10, 20, 100, 50}, .x = {.low = 0, .high = 10}, .y = {.low = 0, .high = 5}};
  EXPECT_DOUBLE_EQ(plot.at_x(5), 60);
  EXPECT_DOUBLE_EQ(plot.at_y(0), 70);
  EXPECT_DOUBLE_EQ(plot.at_y(5), 20);
}

}  // namespace
}  // namespace replay::report
