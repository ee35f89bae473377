// Tests of the work of a job computed from a log: by hand, and for whole simulations, where it must equal the
// simulator's run time.
#include "scheduler/compare/measured_work.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "scheduler/base/error.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/unit/metrics/five_jobs.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using metrics::Records;

// s(1) = 1, s(2) = 1.2: CPU use 0.6 in formula (3).
double two_are_slower(JobId, const Allocation& on) { return on.mpl == 1 ? 1 : 1.2; }

MeasuredWork measured(const Records& records) {
  MeasuredWork work{two_are_slower};
  records.feed(work);
  return work;
}

TEST(MeasuredWork, OfAJobThatWasNeverResizedIsItsTimeOnCores) {
  const MeasuredWork work = measured(Records("flat:4").submit(2, 1, 4, 100).launch(5, 1, 4).finish(12.5, 1));
  ASSERT_NE(work.find(JobId{1}), nullptr);
  EXPECT_EQ(work.find(JobId{1})->submitted, Instant{from_seconds(2)});
  EXPECT_EQ(work.find(JobId{1})->work, from_seconds(7.5));
  EXPECT_EQ(work.find(JobId{2}), nullptr);
  EXPECT_FALSE(work.has_shared_cores());
}

TEST(MeasuredWork, OfAResizedJobIsTheRateOverItsAllocations) {
  const MeasuredWork work = measured(
      Records("flat:4").submit(0, 1, 4, 100).launch(0, 1, 4).resized(10, 1, 2, 2).resized(22, 1, 4, 1).finish(30, 1));
  EXPECT_EQ(work.find(JobId{1})->work, from_seconds(10 + 12 / 1.2 + 8));
}

TEST(MeasuredWork, OfAJobThatStartedShrunkCountsFromItsLaunch) {
  const MeasuredWork work = measured(Records("flat:4").submit(0, 1, 4, 100).launch(3, 1, 2, 2).finish(15, 1));
  EXPECT_EQ(work.find(JobId{1})->work, from_seconds(10));
}

TEST(MeasuredWork, StandsStillWhileSuspended) {
  const MeasuredWork work =
      measured(Records("flat:4").submit(0, 1, 4, 9).launch(0, 1, 4).suspended(4, 1).resumed(100, 1).finish(105, 1));
  EXPECT_EQ(work.find(JobId{1})->work, from_seconds(9));
}

TEST(MeasuredWork, OfAJobThatDidNotCompleteIsNotKnown) {
  const MeasuredWork work =
      measured(Records("flat:4").submit(1, 1, 4, 9).launch(1, 1, 4).finish(3, 1, metrics::ended(Outcome::kOverrun)));
  EXPECT_EQ(work.find(JobId{1})->submitted, Instant{from_seconds(1)});
  EXPECT_FALSE(work.find(JobId{1})->work);
}

TEST(MeasuredWork, SaysWhereJobsMayHaveSharedCores) {
  EXPECT_TRUE(
      measured(Records("1x1x2").submit(0, 1, 1, 9).launch_shared(0, 1, {{0, 1}}).finish(9, 1)).has_shared_cores());
}

TEST(MeasuredWork, RefusesALogThatCannotBe) {
  MeasuredWork work{two_are_slower};
  EXPECT_THROW(Records("flat:4").launch(0, 7, 4).feed(work), InputError);
}

// Whatever the policy does to a job, the simulator ends it when its work is done, so the work in the log is the run
// time in the trace. An end is rounded up to a microsecond, and each change of rate may round.
TEST(MeasuredWork, InASimulationIsTheRunTimeOfTheTrace) {
  const auto model = make_runtime_model("isolated");
  int shrinks = 0, compared = 0;
  for (const char* policy : {"easy", "fcfs-malleable", "easy-malleable"})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto jobs = test::random_jobs(seed, 60, 8);
      std::map<JobId, TracedJob> of_trace;
      for (const TracedJob& traced : jobs) of_trace[traced.job.id] = traced;
      MeasuredWork work{
          [&](JobId job, const Allocation& on) { return model->slowdown(as_true(of_trace.at(job), on), on, {}); }};
      const auto log = test::simulate(policy, test::cores(8), jobs, "isolated");
      test::feed(log, "flat:8", work);
      for (const auto& [job, traced] : of_trace) {
        if (log.outcome(job) != Outcome::kCompleted) continue;
        ASSERT_TRUE(work.find(job)->work);
        ++compared;
        EXPECT_NEAR(seconds(*work.find(job)->work), seconds(traced.truth.runtime), 10e-6)
            << policy << ", seed " << seed << ", job " << static_cast<std::int64_t>(job);
      }
      shrinks += log.resizes().shrinks;
    }
  EXPECT_GT(compared, 2000) << "of 3600 jobs; the others are killed at their estimates";
  EXPECT_GT(shrinks, 100) << "or it is only about jobs that keep their cores";
}

}  // namespace
}  // namespace replay::compare
