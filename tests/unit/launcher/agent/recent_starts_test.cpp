// Tests of how many processes the jobs needed that were started of late.
#include "launcher/agent/recent_starts.hpp"

#include <gtest/gtest.h>

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;

TEST(RecentStarts, OfJobsThatStartTogetherTheProcessesAreAddedUp) {
  RecentStarts starts;
  const RecentStarts::Clock::time_point began{100h};
  starts.add(1, began);
  starts.add(4, began + 1s);
  starts.add(2, began + 9s);
  EXPECT_EQ(starts.processes_since(began), 4U + 10U + 6U);
  EXPECT_EQ(starts.processes_since(began + 1s), 10U + 6U);
  EXPECT_EQ(starts.processes_since(began + 10s), 0U);
  starts.add(1, began + 2h);
  EXPECT_EQ(starts.processes_since(began), 4U) << "the others are not kept";
}

}  // namespace
}  // namespace replay::launcher
