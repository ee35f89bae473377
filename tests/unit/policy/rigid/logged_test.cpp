// The policy `logged` by itself: jobs whose log says when they started.
#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TracedJob logged(JobBuilder job, Duration start) {
  TracedJob traced = job.rigid();
  traced.job.logged_start = at(start);
  return traced;
}

// As simulations of logs have it: no request ends a job.
MemoryLog repeat(CoreCount size, std::vector<TracedJob> jobs) {
  SimulationOptions options;
  options.overrun = Overrun::kNone;
  return simulate("logged", cores(size), std::move(jobs), "isolated", options);
}

TEST(Logged, StartsEachJobWhenItsLogDidThoughCoresWereFreeBefore) {
  const auto log = repeat(4, {logged(job('A').cores(2).runs(2min), 1min), logged(job('B').cores(2).runs(3min), 0min),
                              logged(job('C').cores(4).runs(1min), 3min), logged(job('D').runs(0s).arrives(30s), 30s)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "BBBC\n"
            "BBBC\n"
            ".AAC\n"
            ".AAC\n");
  EXPECT_EQ(log.start(id('D')), at(30s));
  EXPECT_EQ(what_is_wrong(log, cores(4)), "");
}

TEST(Logged, LetsAJobRunPastItsRequest) {
  const auto log = repeat(1, {logged(job('A').runs(5min).estimated(1min), 0min), logged(job('B').runs(1min), 5min)});
  EXPECT_EQ(log.end(id('A')), at(5min));
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(log.decisions(), "start A 1; start B 1") << "and extends nothing";
}

TEST(Logged, NeverStartsAJobThatWaitsInVain) {
  const auto log = repeat(2, {logged(job('A').cores(2).runs(10min), 0min), job('B').runs(1min).cancelled_after(3min)});
  EXPECT_EQ(log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(log.end(id('B')), at(3min));
  EXPECT_EQ(log.start(id('B')), kNever);
}

TEST(Logged, StartsJobsOfNoTimeOneAfterTheOtherAtTheirInstant) {
  const auto log = repeat(3, {logged(job('A').cores(2).runs(0s), 1min), logged(job('B').cores(3).runs(0s), 1min),
                              logged(job('C').cores(1).runs(1min), 1min), logged(job('D').cores(2).runs(0s), 1min)});
  for (const char name : {'A', 'B', 'C', 'D'}) EXPECT_EQ(log.start(id(name)), at(1min)) << name;
}

TEST(Logged, DoesNotPutOffAJobThatHasNoRoom) {
  EXPECT_THROW(
      (void)repeat(3, {logged(job('A').cores(2).runs(2min), 0min), logged(job('B').cores(2).runs(1min), 1min)}),
      PolicyError);
}

TEST(Logged, SharesNoTimeWithOthers) { EXPECT_THROW((void)make_policy("scojo-pect:inner=logged"), UsageError); }

}  // namespace
}  // namespace replay::test
