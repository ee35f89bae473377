#include "scheduler/report/page/differences.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/report/page/small_logs.hpp"

namespace replay::report {
namespace {

class Differences : public testing::Test {
 protected:
  void add(const std::string& log) {
    const auto file = folder_ / fmt::format("{}.log", runs_.size());
    test::write_text(file, log);
    runs_.push_back(read_run(file));
    logs_.push_back(file);
  }
  // Three jobs of a core each on one core; job 2 is started before job 3, or behind it.
  static std::string log(bool second_first, const std::string& body = "sim", const std::string& more = "") {
    const int a = second_first ? 2 : 3, b = second_first ? 3 : 2;
    std::string text = fmt::format("#replay-events 1\n#body {}\n#machine flat:1\n{}", body, more);
    for (const int job : {1, 2, 3})
      text += fmt::format("0 submit job={} processes=1 estimate=9 runtime=9 flexibility=rigid\n", job);
    text += "0 start job=1 cores=1 mpl=1\n0 launch job=1 cores=1 mpl=1\n9 finish job=1 outcome=completed\n";
    text += fmt::format(
        "9 start job={0} cores=1 mpl=1\n9 launch job={0} cores=1 mpl=1\n18 finish job={0} outcome=completed\n", a);
    return text +
           fmt::format(
               "18 start job={0} cores=1 mpl=1\n18 launch job={0} cores=1 mpl=1\n27 finish job={0} outcome=completed\n",
               b);
  }
  std::optional<PageDifference> difference(std::size_t run = 1, std::size_t against = 0) {
    return difference_of(runs_, run, against, logs_);
  }
  TemporaryFolder folder_;
  std::vector<RunData> runs_;
  std::vector<std::filesystem::path> logs_;
};

TEST_F(Differences, NameTheFirstOtherDecisionAndTheJobsThatItMoved) {
  add(log(true));
  add(log(false));
  const auto found = difference();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tolerance, 0);
  ASSERT_TRUE(found->parts);
  EXPECT_EQ(found->at, 9);
  EXPECT_EQ(found->job, 1) << "job 2, or";
  EXPECT_NE(found->first.find("starts job 2"), std::string::npos) << found->first;
  EXPECT_NE(found->first.find("starts job 3"), std::string::npos) << found->first;
  EXPECT_TRUE(found->first.starts_with("A is 0.log, B is 1.log\nthey part at 9 s")) << found->first;
  EXPECT_NE(found->text.find(found->first.substr(found->first.find('\n') + 1)), std::string::npos) << found->text;
  EXPECT_EQ(found->jobs, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(found->wait_difference, (std::vector<double>{9, -9}));
  EXPECT_EQ(found->remarks.size(), 0u);
}

TEST_F(Differences, EqualRunsDoNotPart) {
  add(log(true));
  add(log(true));
  const auto found = difference();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->parts);
  EXPECT_EQ(found->job, -1);
  EXPECT_EQ(found->jobs.size(), 0u);
}

TEST_F(Differences, ARealRunMayBeLateByHalfARealSecond) {
  add(log(true));
  add(log(true, "live"));
  add(log(true, "live", "#time-scale 0.05\n"));
  EXPECT_EQ(difference(1)->tolerance, 1);
  EXPECT_EQ(difference(2)->tolerance, 10);
  EXPECT_EQ(difference(2, 1)->tolerance, 10);
  EXPECT_EQ(difference(1)->remarks.size(), 1u) << "simulated and real";
  add(log(true, "live", "#time-scale 1e-300\n"));
  EXPECT_EQ(difference(3)->tolerance, 1) << "no run has that scale";
}

TEST_F(Differences, OtherCoresOfAsManyAreADifferenceOfSimulatedRuns) {
  const auto on = [](int core) {
    return fmt::format(
        "#replay-events 1\n#body sim\n#machine 1x2\n"
        "0 submit job=1 processes=1 estimate=9 runtime=9 flexibility=rigid\n"
        "0 start job=1 cores=1 mpl=1 on={0}:1\n0 launch job=1 cores=1 mpl=1 on={0}:1\n9 finish job=1 "
        "outcome=completed\n",
        core);
  };
  add(on(0));
  add(on(1));
  EXPECT_TRUE(difference()->parts);
}

TEST_F(Differences, AJobThatOneOfThemDidNotStartHasNoDifferenceOfWaits) {
  add(log(true));
  std::string cut = log(true);
  cut.resize(cut.find("18 start"));
  add(cut);
  const auto found = difference();
  ASSERT_TRUE(found && found->parts);
  EXPECT_EQ(found->jobs, std::vector<std::int32_t>{2});
  EXPECT_TRUE(std::isnan(found->wait_difference.at(0)));
}

TEST_F(Differences, RunsThatShareNoJobAreNotCompared) {
  add(log(true));
  add("#replay-events 1\n#machine flat:1\n0 submit job=77 processes=1 estimate=9 runtime=9 flexibility=rigid\n");
  runs_[0].name = "first";
  EXPECT_FALSE(difference());
  EXPECT_EQ(runs_[1].warnings.back().kind, "note");
  EXPECT_EQ(runs_[1].warnings.back().text, "it shares no job with first, so the two are not compared");
  add("#replay-events 1\n#machine flat:1\n");
  EXPECT_FALSE(difference(2)) << "one without jobs";
}

TEST_F(Differences, TwoRunsWithoutJobsDoNotPart) {
  add("#replay-events 1\n#machine flat:1\n");
  add("#replay-events 1\n#machine flat:1\n");
  const auto found = difference();
  EXPECT_TRUE(!found || !found->parts);
}

}  // namespace
}  // namespace replay::report
