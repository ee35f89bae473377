#include "scheduler/metrics/job_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scheduler/model/error.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"
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

TEST(JobTable, ALogThatCannotBeTrueIsRefused) {
  EXPECT_THROW(table_of(Records("flat:8").launch(0, 1, 1)), InputError);
  EXPECT_THROW(table_of(Records("flat:8").submit(0, 1, 1, 1).submit(0, 1, 1, 1)), InputError);
  EXPECT_THROW(table_of(Records("flat:8").submit(0, 1, 1, 1).launch(0, 1, 1).finish(1, 1).finish(1, 1)), InputError);
}

// Keeps what a table hands over.
struct Rows final : RowReader {
  std::vector<JobRow> rows;
  std::vector<std::string> texts;
  void row(const JobRow& row, const RowTexts& its) override {
    rows.push_back(row);
    texts.push_back(fmt::format("{}|{}", its.reason, its.rigid_reason));
  }
};

std::string text_of(const JobRow& row) {
  const auto micros = [](Instant at) { return at.time_since_epoch().count(); };
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", number(row.job), micros(row.submitted),
                     micros(row.launched), micros(row.finished), row.runtime.count(), row.estimate.count(),
                     row.suspended.count(), row.mpl_time, row.processes, row.first_cores, row.last_cores,
                     row.most_cores, row.shrinks, row.expands, to_text(row.outcome));
}

TEST(JobTable, HandsOverTheRowsThatItWouldHaveKept) {
  for (const char* policy : {"easy", "fcfs-malleable", "sjf"}) {
    const test::MemoryLog log = test::simulate(policy, test::cores(16), test::random_jobs(7, 3000, 16));
    Rows rows;
    JobTable kept, handing(rows);
    std::size_t most = 0;
    for (const log::Record& record : log.records()) {
      kept.record(record);
      handing.record(record);
      most = std::max(most, handing.rows().size());
    }
    if (policy == std::string_view{"easy"}) {  // under which nobody waits for ever
      EXPECT_LT(most, 2500u) << "forgets them meanwhile";
    }
    handing.hand_over_rest();
    EXPECT_TRUE(handing.rows().empty());
    EXPECT_EQ(handing.find(kept.rows()[0].job), nullptr);
    ASSERT_EQ(rows.rows.size(), kept.rows().size()) << policy;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) ASSERT_EQ(text_of(rows.rows[i]), text_of(kept.rows()[i]));
  }
}

TEST(JobTable, HandsOverJobsThatHaveNotEndedAndWhyOthersDid) {
  Rows rows;
  JobTable table(rows);
  Records("flat:8")
      .submit(0, 1, 1, 1)
      .submit(0, 2, 1, 1)
      .launch(1, 2, 1)
      .add(1, log::RanksSeen{JobId{2}, false, "it has threads"})
      .finish(2, 2, {Outcome::kFailed, 3, Verification::kNone, -1, "exit status 3"})
      .feed(table);
  EXPECT_TRUE(rows.rows.empty()) << "job 1 waits";
  table.hand_over_rest();
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].job, JobId{1});
  EXPECT_FALSE(rows.rows[0].has_ended());
  EXPECT_EQ(rows.texts, (std::vector<std::string>{"|", "exit status 3|it has threads"}));
}

}  // namespace
}  // namespace replay::metrics
