#include "scheduler/metrics/holm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace replay::metrics {
namespace {

// Against 0.05 / 4, / 3, / 2: 0.005 and 0.01 are settled, 0.03 is above 0.025, and 0.04 is not looked at.
TEST(Holm, GoesUpFromTheSmallestUntilOneIsChance) {
  const HolmOutcome outcome = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005}, 0.05);
  EXPECT_EQ(outcome.settled, (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(outcome.open, 2u);
  EXPECT_DOUBLE_EQ(outcome.open_level, 0.025);
}

TEST(Holm, SettlesWhatBonferroniWouldNot) {
  const HolmOutcome outcome = holm(std::vector<double>{0.001, 0.04}, 0.05);
  EXPECT_EQ(outcome.settled, (std::vector<bool>{true, true})) << "0.04 is above 0.05 / 2";
  EXPECT_EQ(outcome.open, 0u);
  EXPECT_DOUBLE_EQ(outcome.open_level, 0.05);
}

TEST(Holm, DoesNotCountWhatIsNoTest) {
  const double none = std::nan("");
  const HolmOutcome outcome = holm(std::vector<double>{none, 0.03, none}, 0.05);
  EXPECT_EQ(outcome.settled, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(holm(std::vector<double>{none}, 0.05).open, 0u);
  EXPECT_TRUE(holm({}, 0.05).settled.empty());
}

}  // namespace
}  // namespace replay::metrics
