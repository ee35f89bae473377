#include "launcher/agent/end_cost.hpp"

#include <gtest/gtest.h>

namespace replay::launcher {
namespace {

TEST(EndCost, GrowsWithTheRanks) {
  const EndCost cost;
  EXPECT_GT(cost.expected(1), 0U);
  EXPECT_GT(cost.expected(16), cost.expected(1));
}

TEST(EndCost, FollowsWhatEndingHasCostLately) {
  EndCost cost;
  const std::uint64_t before = cost.expected(8);
  cost.learn(8, 2 * before);
  EXPECT_EQ(cost.expected(8), 2 * before);
  EXPECT_EQ(cost.expected(1), 2 * EndCost{}.expected(1)) << "what makes one job's end slow makes every job's slow";
}

TEST(EndCost, IsNotImpressedByASingleJob) {
  EndCost cost;
  for (int job = 0; job < 5; ++job) cost.learn(4, EndCost{}.expected(4));
  cost.learn(4, 100 * EndCost{}.expected(4));
  EXPECT_EQ(cost.expected(4), EndCost{}.expected(4));
}

TEST(EndCost, ForgetsWhatIsLongAgo) {
  EndCost cost;
  for (std::size_t job = 0; job < EndCost::kMemory; ++job) cost.learn(1, 3 * EndCost{}.expected(1));
  for (std::size_t job = 0; job < EndCost::kMemory; ++job) cost.learn(1, EndCost{}.expected(1));
  EXPECT_EQ(cost.expected(1), EndCost{}.expected(1));
}

TEST(EndCost, StaysWithinBounds) {
  EndCost slow;
  slow.learn(2, 1'000'000'000'000);
  EXPECT_EQ(slow.expected(2), static_cast<std::uint64_t>(EndCost::kMost * static_cast<double>(EndCost{}.expected(2))));
  EndCost fast;
  fast.learn(2, 1);
  EXPECT_EQ(fast.expected(2), static_cast<std::uint64_t>(EndCost::kLeast * static_cast<double>(EndCost{}.expected(2))));
}

}  // namespace
}  // namespace replay::launcher
