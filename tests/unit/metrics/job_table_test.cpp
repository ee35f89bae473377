#include "scheduler/metrics/job_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/base/error.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

using namespace std::chrono_literals;

JobTable table_of(const Records& records) {
  JobTable table;
  records.feed(table);
  return table;
}

TEST(JobTable, AJobWaitsUntilItsCoresAreGivenToIt) {
  const JobTable table = table_of(Records("flat:4")
                                      .submit(10, 1, 2, 4)
                                      .add(11, log::StartDecided{JobId{1}, {2, 1, {}}})
                                      .launch(12, 1, 2)
                                      .finish(16, 1));
  const JobRow& row = table.rows()[0];
  EXPECT_EQ(row.wait(), 2s);
  EXPECT_EQ(row.execution(), 4s);
  EXPECT_EQ(row.response(), 6s);
  EXPECT_DOUBLE_EQ(row.times().slowdown(), 1.5);
  EXPECT_TRUE(row.ran());
}

TEST(JobTable, BoundedSlowdownForgivesShortJobs) {
  const JobTable table = table_of(Records("flat:4").submit(0, 1, 1, 2).launch(18, 1, 1).finish(20, 1));
  EXPECT_DOUBLE_EQ(table.rows()[0].times().slowdown(), 10);
  EXPECT_DOUBLE_EQ(table.rows()[0].times().bounded_slowdown(10s), 2);
  EXPECT_DOUBLE_EQ(table.rows()[0].times().bounded_slowdown(60s), 1);
}

TEST(JobTable, AJobWithoutRunTimeHasNoSlowdownButABoundedOne) {
  const JobTable table = table_of(Records("flat:4").submit(0, 1, 1, 0).launch(20, 1, 1).finish(20, 1));
  EXPECT_TRUE(std::isnan(table.rows()[0].times().slowdown()));
  EXPECT_DOUBLE_EQ(table.rows()[0].times().bounded_slowdown(10s), 2);
  EXPECT_DOUBLE_EQ(table.rows()[0].mean_mpl(), 1);
}

TEST(JobTable, ShrinksAndExpandsCountWhenTheyAreDone) {
  const JobTable table = table_of(Records("flat:8")
                                      .submit(0, 1, 4, 10)
                                      .launch(0, 1, 4)
                                      .add(1, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                                      .resized(2, 1, 2, 2)
                                      .resized(6, 1, 4, 1)
                                      .add(7, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                                      .add(7, log::Failed{JobId{1}, "resize", "agent lost"})
                                      .finish(10, 1));
  const JobRow& row = table.rows()[0];
  EXPECT_EQ(row.shrinks, 1);
  EXPECT_EQ(row.expands, 1);
  EXPECT_EQ(row.first_cores, 4);
  EXPECT_EQ(row.last_cores, 4);
  EXPECT_DOUBLE_EQ(row.mean_mpl(), (2 * 1 + 4 * 2 + 4 * 1) / 10.0);
}

TEST(JobTable, SuspendedTimeIsNoTimeOnCores) {
  const JobTable table = table_of(Records("flat:8")
                                      .submit(0, 1, 4, 10)
                                      .launch(0, 1, 2, 2)
                                      .suspended(2, 1)
                                      .resumed(5, 1)
                                      .resized(6, 1, 4, 1)
                                      .suspended(8, 1)
                                      .finish(12, 1, ended(Outcome::kKilled)));
  const JobRow& row = table.rows()[0];
  EXPECT_EQ(row.suspended, 7s);
  EXPECT_DOUBLE_EQ(row.mean_mpl(), (2 * 2 + 1 * 2 + 2 * 1) / 5.0);
}

TEST(JobTable, KeepsHowAndWhyAJobEnded) {
  const JobEnd end{Outcome::kFailed, 3, Verification::kFailed, 0.5, "rank 1 never finalized"};
  const JobTable table =
      table_of(Records("flat:8").submit(0, 70'000'000, 1, 1).launch(0, 70'000'000, 1).finish(1, 70'000'000, end));
  const JobRow* row = table.find(JobId{70'000'000});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->outcome, Outcome::kFailed);
  EXPECT_EQ(row->exit_code, 3);
  EXPECT_EQ(row->verification, Verification::kFailed);
  EXPECT_EQ(row->cpu_use, 0.5);
  EXPECT_EQ(table.reason(row->job), "rank 1 never finalized");
  EXPECT_EQ(table.find(JobId{1}), nullptr);
}

TEST(JobTable, AJobWhoseProcessesCannotShareIsRigid) {
  const JobTable table = table_of(
      Records("flat:8").submit(0, 1, 2, 1).launch(0, 1, 2).add(0.5, log::RanksSeen{JobId{1}, false, "static program"}));
  EXPECT_EQ(table.rows()[0].flexibility, Flexibility::kRigid);
  EXPECT_EQ(table.rigid_reason(JobId{1}), "static program");
  EXPECT_EQ(table.rigid_reason(JobId{2}), "");
  EXPECT_FALSE(table.rows()[0].has_ended());
}

TEST(JobTable, AJobWhoseRanksRegisteredLateIsMalleable) {
  const JobTable table = table_of(Records("flat:8")
                                      .submit(0, 1, 2, 1)
                                      .launch(0, 1, 2)
                                      .add(5, log::RanksSeen{JobId{1}, false, "not yet shrinkable"})
                                      .add(7, log::RanksSeen{JobId{1}, true, "its ranks have registered"}));
  EXPECT_EQ(table.rows()[0].flexibility, Flexibility::kMalleable);
  EXPECT_EQ(table.rigid_reason(JobId{1}), "");
}

TEST(JobTable, ALogThatCannotBeTrueIsRefused) {
  EXPECT_THROW(table_of(Records("flat:8").launch(0, 1, 1)), InputError);
  EXPECT_THROW(table_of(Records("flat:8").submit(0, 1, 1, 1).submit(0, 1, 1, 1)), InputError);
  EXPECT_THROW(table_of(Records("flat:8").submit(0, 1, 1, 1).launch(0, 1, 1).finish(1, 1).finish(1, 1)), InputError);
}

}  // namespace
}  // namespace replay::metrics
