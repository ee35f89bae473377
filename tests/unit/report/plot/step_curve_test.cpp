// Tests of curves over time: what is drawn of them has every peak and a bounded number of points; means are over what the curve covers.
#include "scheduler/report/plot/step_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace replay::report {
namespace {

const Plot kPlot{.area = {0, 0, 100, 10}, .x = {.low = 0, .high = 100}, .y = {.low = 0, .high = 10}};

std::string text_of(const Polyline& line) {
  std::string text;
  for (const Point& point : line) text += number_text(point.x) + "," + number_text(point.y) + " ";
  return text;
}

TEST(StepLine, HoldsAValueUntilTheNextChange) {
  const std::vector<Step> steps{{10, 1}, {20, 4}, {30, 0}};
  EXPECT_EQ(text_of(step_line(steps, 50, {0, 100}, kPlot)), "10,9 20,9 20,6 30,6 30,10 50,10 ");
}

TEST(StepLine, IsCutAtTheWindow) {
  const std::vector<Step> steps{{0, 1}, {50, 2}, {90, 3}};
  const Plot plot{.area = {0, 0, 100, 10}, .x = {.low = 20, .high = 60}, .y = {.low = 0, .high = 10}};
  EXPECT_EQ(text_of(step_line(steps, 200, {20, 60}, plot)), "0,9 75,9 75,8 100,8 ");
  EXPECT_TRUE(step_line(steps, 10, {20, 60}, plot).empty());
}

TEST(StepLine, KeepsPeaksOfAMillionChangesInABoundedNumberOfPoints) {
  std::vector<Step> steps;
  for (int i = 0; i < 1'000'000; ++i) steps.push_back({i * 1e-4, i == 500'005 ? 9.0 : static_cast<double>(i % 3)});
  const Polyline line = step_line(steps, 100, {0, 100}, kPlot);
  EXPECT_LE(line.size(), 800u);
  EXPECT_DOUBLE_EQ(std::ranges::min(line, {}, &Point::y).y, 1);   // the value 9
  EXPECT_DOUBLE_EQ(std::ranges::max(line, {}, &Point::y).y, 10);  // the value 0
  EXPECT_DOUBLE_EQ(line.back().x, 100);
}

TEST(Means, AreOverTheTimeThatTheCurveCovers) {
  const std::vector<Step> steps{{5, 2}, {15, 4}, {20, 0}, {30, 8}};
  const std::vector<Step> means = means_over(steps, 35, {0, 100}, 10);
  ASSERT_EQ(means.size(), 4u);
  EXPECT_DOUBLE_EQ(means[0].value, 2);
  EXPECT_DOUBLE_EQ(means[1].value, 3);
  EXPECT_DOUBLE_EQ(means[2].value, 0);
  EXPECT_DOUBLE_EQ(means[3].value, 8);
  EXPECT_DOUBLE_EQ(mean_of(steps, 35, {0, 100}), (10 * 2 + 5 * 4 + 5 * 8) / 30.0);
  EXPECT_DOUBLE_EQ(mean_of(steps, 35, {12, 18}), 3);
  EXPECT_DOUBLE_EQ(mean_of(steps, 35, {40, 50}), 0);
}

TEST(Means, AreOverRoundSpans) {
  EXPECT_EQ(round_span({0, 100}, 150), 1);
  EXPECT_EQ(round_span({0, 3600}, 150), 30);
  EXPECT_EQ(round_span({0, 86400}, 150), 600);
  EXPECT_EQ(round_span({0, 30 * 86400.0}, 150), 6 * 3600);
  EXPECT_EQ(round_span({0, 100 * 86400.0}, 150), 86400);
  EXPECT_EQ(round_span({0, 400 * 86400.0}, 150), 5 * 86400);
}

}  // namespace
}  // namespace replay::report
