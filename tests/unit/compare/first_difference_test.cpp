#include "scheduler/compare/first_difference.hpp"

#include <gtest/gtest.h>

#include "scheduler/compare/run_state.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using namespace std::chrono_literals;
using metrics::Records;
using test::at;
using test::id;

DecisionList list_of(const test::MemoryLog& log, std::string_view machine = "flat:4") {
  DecisionList list;
  test::feed(log, machine, list);
  return list;
}

DecisionList list_of(const Records& records) {
  DecisionList list;
  records.feed(list);
  return list;
}

// One job that is started, resized and ends.
Records one_job(double start, double resize, CoreCount to, double end) {
  return Records("flat:4")
      .submit(0, 1, 4, 10)
      .add(start, log::StartDecided{JobId{1}, {4, 1, {}}})
      .launch(start, 1, 4)
      .add(resize, log::ResizeDecided{JobId{1}, {to, 2, {}}})
      .resized(resize, 1, to, 2)
      .finish(end, 1);
}

TEST(FirstDifference, OfARunWithItselfIsNone) {
  for (const char* policy : {"easy", "fcfs-malleable", "conservative"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto log = test::simulate(policy, test::cores(8), test::random_jobs(seed, 60, 8));
      const DecisionList a = list_of(log, "flat:8"), b = list_of(log, "flat:8");
      EXPECT_FALSE(first_difference(a, b, {Duration::zero(), true})) << policy << " " << seed;
      EXPECT_FALSE(first_event_difference(a.jobs(), b.jobs(), Duration::zero()));
      EXPECT_TRUE(job_differences(a.jobs(), b.jobs(), Duration::zero(), 10).none());
    }
}

TEST(FirstDifference, OfEasyAndFcfsIsTheStartThatFillsTheGap) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  const auto fcfs = test::simulate("fcfs", test::cores(4), test::five_jobs());
  const auto parting = first_difference(list_of(easy), list_of(fcfs), {});
  ASSERT_TRUE(parting);
  EXPECT_EQ(parting->at, at(2s));
  EXPECT_EQ(parting->job, id('C'));
  ASSERT_EQ(parting->a.did.size(), 1u);
  EXPECT_EQ(parting->a.did[0].kind, DecisionKind::kStart);
  EXPECT_EQ(parting->a.did[0].cores, 1);
  EXPECT_TRUE(parting->b.did.empty());
  ASSERT_TRUE(parting->b.decision) << "fcfs starts it too";
  EXPECT_EQ(parting->b.decision->at, at(20s));
}

TEST(FirstDifference, ComesWithTheStateOfBothJustBefore) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  const auto fcfs = test::simulate("fcfs", test::cores(4), test::five_jobs());
  const auto parting = first_difference(list_of(easy), list_of(fcfs), {});
  ASSERT_TRUE(parting);
  StateBefore a{parting->a.record, kNever}, b{parting->b.record, parting->at};
  test::feed(easy, "flat:4", a);
  test::feed(fcfs, "flat:4", b);
  for (const RunState* state : {&a.state(), &b.state()}) {
    EXPECT_EQ(state->free_cores(), 1);
    EXPECT_EQ(state->running().size(), 1u);
    EXPECT_EQ(state->waiting(), (std::set<QueueKey>{{at(1s), id('B')}, {at(2s), id('C')}}));
  }
}

TEST(FirstDifference, WithinTheToleranceIsNone) {
  const DecisionList a = list_of(one_job(1, 5, 2, 20)), b = list_of(one_job(1.2, 4.9, 2, 20.3));
  EXPECT_FALSE(first_difference(a, b, {from_seconds(0.2), false}));
  const auto parting = first_difference(a, b, {from_seconds(0.19), false});
  ASSERT_TRUE(parting);
  EXPECT_EQ(parting->at, at(1s));
  EXPECT_TRUE(job_differences(a.jobs(), b.jobs(), from_seconds(0.3), 10).none());
  EXPECT_EQ(job_differences(a.jobs(), b.jobs(), from_seconds(0.2), 10).ended_elsewhen, 1u);
}

TEST(FirstDifference, OrderWithinTheToleranceDoesNotMatter) {
  const auto two = [](double first, double second) {
    return Records("flat:4")
        .submit(0, 1, 1, 10)
        .submit(0, 2, 1, 10)
        .add(5, log::StartDecided{JobId{static_cast<int>(first)}, {1, 1, {}}})
        .add(5, log::StartDecided{JobId{static_cast<int>(second)}, {1, 1, {}}});
  };
  EXPECT_FALSE(first_difference(list_of(two(1, 2)), list_of(two(2, 1)), {}));
}

TEST(FirstDifference, AnotherCountOfCoresCounts) {
  const auto parting = first_difference(list_of(one_job(1, 5, 2, 20)), list_of(one_job(1, 5, 3, 20)), {});
  ASSERT_TRUE(parting);
  EXPECT_EQ(parting->at, at(5s));
  EXPECT_EQ(parting->a.decision->cores, 2);
  EXPECT_EQ(parting->b.decision->cores, 3);
}

TEST(FirstDifference, OtherCoresOfAsManyCountIfPlacementsDo) {
  const auto on = [](int core) {
    return Records("1x1x4").submit(0, 1, 1, 10).add(0, log::StartDecided{JobId{1}, {1, 1, {{CoreId{core}, 1}}}});
  };
  EXPECT_FALSE(first_difference(list_of(on(0)), list_of(on(3)), {Duration::zero(), false}));
  EXPECT_TRUE(first_difference(list_of(on(0)), list_of(on(3)), {Duration::zero(), true}));
  EXPECT_FALSE(first_difference(list_of(on(3)), list_of(on(3)), {Duration::zero(), true}));
}

TEST(FirstDifference, ADecisionThatOnlyOneRunTakesIsOne) {
  const Records killed = one_job(1, 5, 2, 20).add(21, log::Note{"x"});
  const Records not_killed = one_job(1, 5, 2, 20);
  const Records decided = Records("flat:4")
                              .submit(0, 1, 4, 10)
                              .add(1, log::StartDecided{JobId{1}, {4, 1, {}}})
                              .launch(1, 1, 4)
                              .add(5, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                              .resized(5, 1, 2, 2)
                              .add(19, log::KillDecided{JobId{1}, {}})
                              .finish(20, 1);
  EXPECT_FALSE(first_difference(list_of(killed), list_of(not_killed), {})) << "a note is no decision";
  const auto parting = first_difference(list_of(not_killed), list_of(decided), {});
  ASSERT_TRUE(parting);
  EXPECT_FALSE(parting->a.decision);
  ASSERT_TRUE(parting->b.decision);
  EXPECT_EQ(parting->b.decision->kind, DecisionKind::kKill);
}

TEST(FirstEventDifference, IsTheEarliestEndThatDiffers) {
  const DecisionList a = list_of(one_job(1, 5, 2, 20)), b = list_of(one_job(1, 5, 2, 22));
  const auto event = first_event_difference(a.jobs(), b.jobs(), Duration::zero());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventDifference::Kind::kEnd);
  EXPECT_EQ(event->a, at(20s));
  EXPECT_EQ(event->b, at(22s));
}

TEST(JobDifferences, AreOverTheJobsThatRanInBoth) {
  const auto easy = test::simulate("easy", test::cores(4), test::five_jobs());
  const auto fcfs = test::simulate("fcfs", test::cores(4), test::five_jobs());
  const DecisionList a = list_of(easy), b = list_of(fcfs);
  const JobDifferences all = job_differences(a.jobs(), b.jobs(), Duration::zero(), 10);
  EXPECT_EQ(all.ran, 5u);
  EXPECT_EQ(all.started_elsewhen, 1u) << "C alone: at 20 instead of 2";
  EXPECT_DOUBLE_EQ(all.mean, 3.6);
  EXPECT_DOUBLE_EQ(all.max_size, 18);
  EXPECT_DOUBLE_EQ(all.median_size, 0);
  EXPECT_DOUBLE_EQ(all.wait.a, 8.4);
  EXPECT_DOUBLE_EQ(all.wait.b, 12);
  ASSERT_EQ(all.largest.size(), 1u);
  EXPECT_EQ(all.largest[0].job, id('C'));
  EXPECT_EQ(all.largest[0].later(), Duration{18s});
  EXPECT_TRUE(job_differences(a.jobs(), b.jobs(), Duration::zero(), 0).largest.empty());
}

TEST(JobDifferences, JobsOfOneRunOnlyAreCounted) {
  const DecisionList a = list_of(Records("flat:4").submit(0, 1, 1, 1).submit(0, 2, 1, 1));
  const DecisionList b = list_of(Records("flat:4").submit(0, 2, 1, 1).submit(1, 3, 1, 1).submit(1, 4, 1, 1));
  const JobDifferences jobs = job_differences(a.jobs(), b.jobs(), Duration::zero(), 10);
  EXPECT_EQ(jobs.shared, 1u);
  EXPECT_EQ(jobs.only_a, 1u);
  EXPECT_EQ(jobs.only_b, 2u);
  EXPECT_FALSE(jobs.none());
}

}  // namespace
}  // namespace replay::compare
