#include <gtest/gtest.h>

#include "scheduler/policy/registry.hpp"
#include "scheduler/policy/view/hosting.hpp"
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
  // At 1 min C is submitted before A ends. With pass=event the pass of C's submission already counts A's cores as free.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(1min), job('B').cores(2).runs(4min),
                                    job('C').cores(2).arrives(1min).runs(1min)};
  for (const char* policy : {"easy", "easy:pass=instant"}) {
    const auto log = simulate(policy, cores(4), jobs);
    EXPECT_EQ(log.start(id('C')), at(1min)) << policy;
    EXPECT_EQ(what_is_wrong(log, cores(4)), "") << policy;
  }
}

// The questions of a wrapping policy: two of four cores run until 2 min, the head needs three.
class Questions : public testing::Test {
 protected:
  Questions() : free_(machine_) {
    free_.take({2, 1, {}});
    RunningJob running;
    running.job = &running_job_.job;
    running.allocation = {2, 1, {}};
    running.estimated_end = at(2min);
    running_.insert(RunningJob{running});
    waiting_.insert(head_.job);
    waiting_.insert(next_.job);
  }
  ClusterView view() const { return {at(0s), machine_, free_, waiting_, running_, {}}; }
  Machine machine_ = cores(4);
  FreeCores free_;
  WaitingQueue waiting_;
  RunningSet running_;
  TracedJob running_job_ = job('A').cores(2).runs(2min);
  TracedJob head_ = job('B').cores(3).runs(1min);
  TracedJob next_ = job('C').cores(2).runs(3min);
};

TEST_F(Questions, FreeCoresLastUntilTheHeadsShadowTime) {
  for (const char* policy : {"fcfs", "easy"}) {
    const NamedPolicy named = make_policy(policy);
    EXPECT_EQ(hosting_of(*named.policy).free_until(view(), at(2min)), 2) << policy;
    EXPECT_EQ(hosting_of(*named.policy).free_until(view(), at(3min)), 1) << policy << ": the head leaves one core";
  }
}

TEST_F(Questions, EasyLetsAJobStartThatDoesNotDelayTheHead) {
  const NamedPolicy named = make_policy("easy"), fcfs = make_policy("fcfs");
  const Hosting& easy = hosting_of(*named.policy);
  EXPECT_FALSE(easy.may_start_now(view(), next_.job)) << "two cores for three minutes delay the head";
  const TracedJob narrow = job('D').cores(1).runs(3min);
  const TracedJob brief = job('E').cores(2).runs(2min);
  EXPECT_TRUE(easy.may_start_now(view(), narrow.job)) << "in the extra node";
  EXPECT_TRUE(easy.may_start_now(view(), brief.job)) << "ends by the shadow time";
  EXPECT_FALSE(hosting_of(*fcfs.policy).may_start_now(view(), narrow.job)) << "no job overtakes";
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
