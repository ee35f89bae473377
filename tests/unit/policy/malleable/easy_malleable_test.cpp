// Tests of easy-malleable: FCFS-malleable for the head of the queue, and backfilling behind it that does not delay it.

#include <gtest/gtest.h>

#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(EasyMalleable, AShortJobPassesAHeadForWhichShrinkingIsNotEnough) {
  // A is rigid on 3 of 4 cores until 4 min; B needs 2 even when shrunk. C ends before that; D does not.
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(4min).rigid(), job('B').cores(4).runs(1min).arrives(10s),
                                    job('C').cores(1).runs(2min).arrives(20s)};
  EXPECT_EQ(simulate("fcfs-malleable", cores(4), jobs).start(id('C')), at(4min)) << "no job overtakes B";
  const auto log = simulate("easy-malleable", cores(4), jobs);
  EXPECT_EQ(log.start(id('C')), at(20s));
  EXPECT_EQ(log.start(id('B')), at(4min));
}

TEST(EasyMalleable, AJobThatWouldTakeTheHeadsCoresWaits) {
  // At 4 min B wants 2 of 4 cores shrunk: two are left over. C and D take one each beyond that, E would take B's.
  const std::vector<TracedJob> jobs{job('A').cores(3).runs(4min).rigid(), job('B').cores(4).runs(2min).arrives(10s),
                                    job('C').cores(1).runs(9min).arrives(20s)};
  const auto log = simulate("easy-malleable", cores(4), jobs);
  EXPECT_EQ(log.start(id('C')), at(20s)) << "B has its two cores without it";
  EXPECT_EQ(log.start(id('B')), at(4min));
  const std::vector<TracedJob> wider{job('A').cores(6).runs(4min).rigid(),
                                     job('B').cores(8).runs(2min).rigid().arrives(10s),
                                     job('C').cores(1).runs(9min).arrives(20s)};
  EXPECT_EQ(simulate("easy-malleable", cores(8), wider).start(id('C')), at(6min)) << "a rigid head wants all eight";
}

TEST(EasyMalleable, ABackfilledJobStartsShrunkWhereItDoesNotFitExpanded) {
  const std::vector<TracedJob> jobs{job('A').cores(6).runs(10min).rigid(),
                                    job('B').cores(8).runs(1min).rigid().arrives(10s),
                                    job('C').cores(4).runs(3min).arrives(20s)};
  const auto log = simulate("easy-malleable", cores(8), jobs);
  EXPECT_EQ(log.decisions(id('C')), "start 2") << "shrunk, it is over after 6 min, before A";
  EXPECT_EQ(log.start(id('B')), at(10min));
}

TEST(EasyMalleable, NobodyIsShrunkForAJobBehindTheHead) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(10min), job('R').cores(4).runs(10min).rigid(),
                                    job('B').cores(8).runs(1min).rigid().arrives(10s),
                                    job('C').cores(1).runs(1min).arrives(20s)};
  const auto log = simulate("easy-malleable", cores(8), jobs);
  EXPECT_EQ(log.decisions(id('A')), "start 4");
  EXPECT_GE(log.start(id('C')), at(10min));
}

TEST(EasyMalleable, WithRigidJobsItIsEasy) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto jobs = random_jobs(seed, 200, 16);
    for (TracedJob& traced : jobs) traced.job.flexibility = Flexibility::kRigid;
    ASSERT_EQ(simulate("easy-malleable", cores(16), jobs, "rigid").decisions(),
              simulate("easy:pass=instant", cores(16), jobs, "rigid").decisions())
        << seed;
  }
}

}  // namespace
}  // namespace replay::test
