#include <gtest/gtest.h>

#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(Easy, ShortJobFillsTheGapBeforeTheReservedHead) {
  const auto log = simulate("easy", cores(4),
                            {job('A').cores(3).runs(2min), job('B').cores(4).runs(1min), job('C').cores(1).runs(2min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "AAB\n"
            "AAB\n"
            "AAB\n"
            "CCB\n");
}

TEST(Easy, AJobThatWouldDelayTheHeadWaits) {
  const auto log = simulate("easy", cores(4),
                            {job('A').cores(3).runs(2min), job('B').cores(4).runs(1min), job('C').cores(1).runs(3min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "AABCCC\n"
            "AAB...\n"
            "AAB...\n"
            "..B...\n");
}

TEST(Easy, ALongJobRunsInTheExtraNodes) {
  const auto log = simulate("easy", cores(4),
                            {job('A').cores(2).runs(2min), job('B').cores(3).runs(1min), job('C').cores(1).runs(5min),
                             job('D').cores(1).runs(5min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "AABDDDDD\n"
            "AAB.....\n"
            "CCCCC...\n"
            "..B.....\n")
      << "C takes the one extra node, D would take one of the head's";
}

TEST(Easy, PlansWithTheEstimateNotWithTheTruth) {
  const auto log = simulate(
      "easy", cores(4),
      {job('A').cores(3).runs(1min).estimated(3min), job('B').cores(4).runs(1min), job('C').cores(1).runs(3min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "A..B\n"
            "A..B\n"
            "A..B\n"
            "CCCB\n");
}

TEST(Easy, AJobAtItsEstimateCountsAsGoneInPassesOfThatInstant) {
  // At 1 min first C comes, then A ends. With pass=event the pass of C's coming already has A's cores.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(1min), job('B').cores(2).runs(4min),
                                    job('C').cores(2).arrives(1min).runs(1min)};
  for (const char* policy : {"easy", "easy:pass=instant"}) {
    const auto log = simulate(policy, cores(4), jobs);
    EXPECT_EQ(log.start(id('C')), at(1min)) << policy;
    EXPECT_EQ(what_is_wrong(log, cores(4)), "") << policy;
  }
}

TEST(Fcfs, NobodyOvertakesTheHead) {
  const auto log = simulate("fcfs", cores(4),
                            {job('A').cores(3).runs(2min), job('B').cores(4).runs(1min), job('C').cores(1).runs(1min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "AABC\n"
            "AAB.\n"
            "AAB.\n"
            "..B.\n");
}

}  // namespace
}  // namespace replay::test
