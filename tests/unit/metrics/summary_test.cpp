#include "scheduler/metrics/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/mix_bits.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

using namespace std::chrono_literals;

struct Recorded {
  JobTable table;
  Series series;
  explicit Recorded(const Records& records) { records.feed(table, series); }
  [[nodiscard]] Summary summary(const SummaryOptions& options = {}) const { return summarise(table, series, options); }
  [[nodiscard]] JobSums sums() const {
    JobSums sums;
    for (const JobRow& row : table.rows()) sums.add(row);
    return sums;
  }
};

// Ten jobs of one second on one core, all submitted at 0 and run one after the other.
Records ten_in_a_row() {
  Records records("flat:1");
  for (int job = 1; job <= 10; ++job) records.submit(0, job, 1, 1);
  for (int job = 1; job <= 10; ++job) records.launch(job - 1, job, 1).finish(job, job);
  return records;
}

TEST(Summary, MeansAndPercentilesOfWaits) {
  const Summary summary = Recorded(ten_in_a_row()).summary();
  EXPECT_DOUBLE_EQ(summary.value("mean_wait"), 4.5);
  EXPECT_DOUBLE_EQ(summary.value("p50_wait"), 4.5);
  EXPECT_DOUBLE_EQ(summary.value("p95_wait"), 8.55);
  EXPECT_DOUBLE_EQ(summary.value("max_wait"), 9);
  EXPECT_DOUBLE_EQ(summary.value("mean_slowdown"), 5.5);
  EXPECT_DOUBLE_EQ(summary.value("mean_bounded_slowdown"), 1);
  EXPECT_DOUBLE_EQ(summary.value("utilisation"), 1);
  EXPECT_DOUBLE_EQ(summary.value("fragmentation"), 0);
  EXPECT_DOUBLE_EQ(summary.value("mean_queue"), 4.5);
}

TEST(Summary, TheBoundOfTheBoundedSlowdownIsAnOptionAndIsStated) {
  const Summary summary = Recorded(ten_in_a_row()).summary({.bound = 2s});
  EXPECT_DOUBLE_EQ(summary.value("mean_bounded_slowdown"), (1 + 1 + 1.5 + 2 + 2.5 + 3 + 3.5 + 4 + 4.5 + 5) / 10);
  EXPECT_EQ(summary.find("mean_bounded_slowdown")->definition,
            "mean of max(1, response / max(expanded run time, 2 s))");
}

TEST(Summary, WideAndLongJobsWeighMoreInSldwa) {
  const Recorded run(Records("flat:4")
                         .submit(0, 1, 4, 100)
                         .submit(0, 2, 1, 1)
                         .launch(0, 1, 4)
                         .finish(100, 1)
                         .launch(100, 2, 1)
                         .finish(101, 2));
  EXPECT_DOUBLE_EQ(run.summary().value("sldwa"), (4 * 100 + 1 * 101) / (4 * 100 + 1.0));
  EXPECT_DOUBLE_EQ(run.summary().value("work_utilisation"), 401 / (4 * 101.0));
}

TEST(Summary, UtilisationCountsCoresAndWorkUtilisationCountsWork) {
  // Shrunk to half its cores, the job takes 1.5 times as long: it uses less core time than its work.
  const Recorded run(Records("flat:4").submit(0, 1, 4, 10).launch(0, 1, 2, 2).finish(15, 1));
  EXPECT_DOUBLE_EQ(run.summary().value("utilisation"), 0.5);
  EXPECT_DOUBLE_EQ(run.summary().value("work_utilisation"), 40 / 60.0);
  EXPECT_DOUBLE_EQ(run.summary().value("mean_mpl"), 1);
}

TEST(Summary, TwoJobsOnTheSameCoresUseThemOnceAndRaiseTheMpl) {
  // Two cores for 10 s; job 2 uses both from 2 s to 8 s.
  const Recorded run(Records("1x2")
                         .submit(0, 1, 2, 7)
                         .launch_shared(0, 1, {{0, 1}, {1, 1}})
                         .submit(2, 2, 2, 3)
                         .launch_shared(2, 2, {{0, 1}, {1, 1}})
                         .finish(8, 2)
                         .finish(10, 1));
  EXPECT_DOUBLE_EQ(run.summary().value("utilisation"), 1);
  EXPECT_DOUBLE_EQ(run.summary().value("mean_mpl"), (2 * 10 + 2 * 6) / 20.0);
  EXPECT_DOUBLE_EQ(run.summary().value("work_utilisation"), (2 * 7 + 2 * 3) / 20.0);
  EXPECT_DOUBLE_EQ(run.summary().value("fragmentation"), 0);
  std::map<std::string_view, double> batsim;
  for (const auto& [name, value] : batsim_summary(run.sums(), run.series)) batsim[name] = value;
  EXPECT_DOUBLE_EQ(batsim["time_computing"], 20);
  EXPECT_DOUBLE_EQ(batsim["time_idle"], 0);
}

TEST(Summary, OnlyJobsThatRanHaveTimes) {
  const Recorded run(Records("flat:4")
                         .submit(0, 1, 1, 10)
                         .submit(0, 2, 9, 10)
                         .finish(0, 2, ended(Outcome::kRejected))
                         .submit(0, 3, 4, 10)
                         .launch(0, 1, 1)
                         .finish(7, 3, ended(Outcome::kCancelled))
                         .finish(10, 1, ended(Outcome::kFailed))
                         .submit(10, 4, 1, 10));
  const Summary summary = run.summary();
  EXPECT_EQ(summary.value("jobs"), 4);
  EXPECT_EQ(summary.value("jobs_rejected"), 1);
  EXPECT_EQ(summary.value("jobs_cancelled"), 1);
  EXPECT_EQ(summary.value("jobs_failed"), 1);
  EXPECT_EQ(summary.value("jobs_unfinished"), 1);
  EXPECT_EQ(summary.value("jobs_counted"), 1);
  EXPECT_EQ(summary.value("mean_response"), 10);
  EXPECT_TRUE(std::isnan(run.summary({.completed_only = true}).value("mean_response")));
}

TEST(Summary, JobsWithoutRunTimeAreLeftOutOfTheSlowdownAndCounted) {
  const Summary summary = Recorded(Records("flat:1")
                                       .submit(0, 1, 1, 0)
                                       .submit(0, 2, 1, 2)
                                       .launch(0, 1, 1)
                                       .finish(0, 1)
                                       .launch(0, 2, 1)
                                       .finish(2, 2))
                              .summary();
  EXPECT_EQ(summary.value("mean_slowdown"), 1);
  EXPECT_EQ(summary.value("jobs_without_slowdown"), 1);
  EXPECT_EQ(summary.value("jobs_counted"), 2);
}

TEST(Summary, TrimmingCutsJobsAtBothEndsInSubmitOrder) {
  Records records("flat:2");
  for (int job = 1; job <= 10; ++job) records.submit(job, job, 1, 1).launch(job, job, 1).finish(job + 0.5, job);
  const Summary summary = Recorded(records).summary({.trim_percent = 20});
  EXPECT_EQ(summary.value("jobs"), 6);
  // Jobs 3 to 8 are counted: the machine is observed from 3 s, when job 3 is submitted, to 9 s, when job 9 is.
  EXPECT_DOUBLE_EQ(summary.value("utilisation"), 6 * 0.5 / (2 * 6));
  EXPECT_DOUBLE_EQ(summary.value("makespan"), 5.5);
}

TEST(Summary, AFilterLeavesTheMachineWhole) {
  const Summary summary =
      Recorded(ten_in_a_row()).summary({.filter = [](const JobRow& row) { return row.job == JobId{10}; }});
  EXPECT_EQ(summary.value("jobs"), 1);
  EXPECT_DOUBLE_EQ(summary.value("mean_wait"), 9);
  EXPECT_DOUBLE_EQ(summary.value("utilisation"), 1);
}

TEST(Summary, ALogWithoutJobsHasNoMeans) {
  const Summary summary = Recorded(Records("flat:1")).summary();
  EXPECT_EQ(summary.value("jobs"), 0);
  EXPECT_TRUE(std::isnan(summary.value("mean_wait")));
  EXPECT_TRUE(std::isnan(summary.value("utilisation")));
}

TEST(Summary, EveryMetricHasItsOwnNameAUnitAndADefinition) {
  std::set<std::string_view> names;
  const Recorded run(
      Records("1x1").submit(0, 1, 1, 1).launch_on(0, 1, {{0, 1}}).finish(1, 1).node(2, 0, NodeState::kDown));
  for (const Metric& metric : run.summary().metrics) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.unit.empty());
    EXPECT_EQ(metric.definition.find('{'), std::string::npos) << metric.definition;
  }
  EXPECT_EQ(names.size(), metric_names().size());
}

TEST(Summary, OptionsThatMakeNoSenseAreRefused) {
  const Recorded run(ten_in_a_row());
  EXPECT_THROW((void)run.summary({.bound = 0s}), UsageError);
  EXPECT_THROW((void)run.summary({.trim_percent = 50}), UsageError);
  EXPECT_THROW((void)run.summary({.trim_percent = -1}), UsageError);
}

TEST(BatsimSummary, SlowdownIsResponseOverTheExecutionTimeAsItWas) {
  const Recorded run(Records("flat:4").submit(0, 1, 4, 10).launch(5, 1, 2, 2).finish(25, 1));
  std::map<std::string_view, double> values;
  for (const auto& [name, value] : batsim_summary(run.sums(), run.series)) values[name] = value;
  EXPECT_DOUBLE_EQ(values["mean_slowdown"], 25.0 / 20);
  EXPECT_DOUBLE_EQ(values["mean_turnaround_time"], 25);
  EXPECT_DOUBLE_EQ(values["time_computing"], 40);
  EXPECT_DOUBLE_EQ(values["time_idle"], 60);
  EXPECT_DOUBLE_EQ(values["success_rate"], 1);
}

}  // namespace
}  // namespace replay::metrics
