// Tests of how readings become a figure, and of when to stop reading.
#include "scheduler/calibrate/repeats.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace replay::calibrate {
namespace {

std::vector<Reading> quiet(std::initializer_list<double> values) {
  std::vector<Reading> readings;
  for (const double value : values) readings.push_back({value, false});
  return readings;
}

TEST(Repeats, AFigureIsMedianAndSpreadOfThree) {
  const Figure figure = figure_of(quiet({10.4, 10, 10.1}));
  EXPECT_DOUBLE_EQ(figure.value, 10.1);
  EXPECT_NEAR(figure.spread, 0.4 / 10.1, 1e-12);
  EXPECT_EQ(figure.runs, 3);
  EXPECT_FALSE(figure.disturbed);
}

TEST(Repeats, TheFigureIsTheMedianOfAllAndItsSpreadThatOfTheHalfThatLiesClosestTogether) {
  const Figure figure = figure_of(quiet({1.00, 1.01, 1.30, 1.02, 2.50, 1.60}));
  EXPECT_DOUBLE_EQ(figure.value, 1.16) << "as a rule, not at best: (1.02 + 1.30) / 2";
  EXPECT_NEAR(figure.spread, 0.30 / 1.16, 1e-12) << "1.00 to 1.30: more than half of six, so that the median is there";
  EXPECT_EQ(figure.runs, 4);
  EXPECT_EQ(figure_of(quiet({1, 2, 3, 4, 5, 6, 7})).runs, 4) << "more than half of seven";
}

TEST(Repeats, FewReadingsAllCount) {
  EXPECT_DOUBLE_EQ(figure_of(quiet({5})).value, 5);
  EXPECT_EQ(figure_of(quiet({5})).runs, 1);
  EXPECT_DOUBLE_EQ(figure_of(quiet({5, 7})).value, 6);
}

TEST(Repeats, DisturbedReadingsCountOnlyWhereThereAreTooFewOthers) {
  std::vector<Reading> readings = quiet({1, 1});
  readings.push_back({1.01, true});
  EXPECT_TRUE(figure_of(readings).disturbed);
  readings.push_back({1.02, false});
  EXPECT_FALSE(figure_of(readings).disturbed);
  EXPECT_NEAR(figure_of(readings).spread, 0.02, 1e-12);
}

TEST(Repeats, SettledMeansEnoughQuietReadingsCloseTogether) {
  const Tolerance bound{.spread = 0.05};
  EXPECT_TRUE(is_settled({.value = 2, .spread = 0.05, .runs = 3}, bound));
  EXPECT_FALSE(is_settled({.value = 2, .spread = 0.051, .runs = 3}, bound));
  EXPECT_FALSE(is_settled({.value = 2, .spread = 0, .runs = 2}, bound));
  EXPECT_FALSE(is_settled({.value = 2, .spread = 0, .runs = 3, .disturbed = true}, bound));
  EXPECT_TRUE(is_settled({.value = 0.01, .spread = 0.4, .runs = 3}, {.spread = 0.05, .absolute = 0.005}))
      << "4 ms do not matter";
  EXPECT_TRUE(is_settled({.value = 0, .spread = 0, .runs = 3}, bound));
}

}  // namespace
}  // namespace replay::calibrate
