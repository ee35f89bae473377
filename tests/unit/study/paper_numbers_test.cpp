// Tests of the papers' tables: relations between the columns that a wrongly copied number would break.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "scheduler/study/dynp/numbers.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/slack/numbers.hpp"

namespace replay::study {
namespace {

TEST(SlackNumbers, AllJobsAreAFifthHighAndTheRestLow) {
  for (const auto& month : slack_paper::kMonths)
    EXPECT_NEAR(month.unequal_all, 0.2 * month.unequal_high + 0.8 * month.unequal_low, 0.5) << month.month;
  const auto& year = slack_paper::kYear;
  EXPECT_NEAR(year.unequal_all, 0.2 * year.unequal_high + 0.8 * year.unequal_low, 0.5);
}

TEST(SlackNumbers, ImprovementFollowsFromTheWaits) {
  for (const auto& month : slack_paper::kMonths)
    EXPECT_NEAR(month.improvement_percent, (1 - month.equal / month.conservative) * 100, 0.1) << month.month;
  EXPECT_NEAR(slack_paper::kYear.improvement_percent,
              (1 - slack_paper::kYear.equal / slack_paper::kYear.conservative) * 100, 0.1);
}

TEST(SlackNumbers, HeuristicsAreComparedWithAscendingScheduledTime) {
  const double best = slack_paper::kHeuristics[0].equal;
  EXPECT_NEAR(best, slack_paper::kYear.equal, 0.1);
  for (const auto& row : slack_paper::kHeuristics) {
    EXPECT_NEAR(row.gap, row.low - row.high, 0.15) << row.heuristic;
    EXPECT_NEAR(row.loss_percent, (row.unequal / best - 1) * 100, 0.1) << row.heuristic;
    EXPECT_NEAR(row.unequal, 0.2 * row.high + 0.8 * row.low, 0.5) << row.heuristic;
    EXPECT_NEAR(row.improvement_percent, (1 - row.equal / slack_paper::kYear.conservative) * 100, 0.2) << row.heuristic;
  }
}

TEST(DynpNumbers, GainsAndDifferencesAreToSjf) {
  for (const auto& row : dynp_paper::kFactors) {
    SCOPED_TRACE(testing::Message() << row.log << " " << row.factor);
    const double rounding = 100 * 0.01 / row.sldwa.sjf + 0.01;  // SLDwA is printed with two decimals
    EXPECT_NEAR(row.gain_advanced, (1 - row.sldwa.advanced / row.sldwa.sjf) * 100, rounding);
    EXPECT_NEAR(row.gain_preferred, (1 - row.sldwa.preferred / row.sldwa.sjf) * 100, rounding);
    EXPECT_NEAR(row.points_advanced, row.utilisation.advanced - row.utilisation.sjf, 0.011);
    EXPECT_NEAR(row.points_preferred, row.utilisation.preferred - row.utilisation.sjf, 0.011);
  }
}

TEST(DynpNumbers, Table3IsTheMeanOfTable5) {
  for (const auto& log : dynp_paper::kLogs) {
    double advanced = 0, preferred = 0, points_advanced = 0, points_preferred = 0, rows = 0;
    for (const auto& row : dynp_paper::kFactors) {
      if (row.log != log.log) continue;
      advanced += row.gain_advanced, preferred += row.gain_preferred, ++rows;
      points_advanced += row.points_advanced, points_preferred += row.points_preferred;
    }
    SCOPED_TRACE(log.log);
    ASSERT_EQ(rows, 5);
    EXPECT_NEAR(advanced / rows, log.gain_advanced, 0.011);
    EXPECT_NEAR(preferred / rows, log.gain_preferred, 0.011);
    EXPECT_NEAR(points_advanced / rows, log.points_advanced, 0.011);
    EXPECT_NEAR(points_preferred / rows, log.points_preferred, 0.011);
  }
}

TEST(MalleableNumbers, AveragesOfFigure2FollowFromItsStartsAndEnds) {
  for (const auto& row : malleable_paper::kFigure2) {
    SCOPED_TRACE(row.policy);
    double response = 0, slowdown = 0;
    for (std::size_t j = 0; j < row.ends.size(); ++j) {
      EXPECT_LT(row.starts[j], row.ends[j]);
      response += row.ends[j];
      slowdown += static_cast<double>(row.ends[j]) / malleable_paper::kFigure2Runtimes[j];
    }
    EXPECT_NEAR(row.response, response / 6, 1e-9);
    EXPECT_NEAR(row.slowdown, slowdown / 6, 1e-9);
  }
}

TEST(MalleableNumbers, FragmentationOfFigure2IsWhatRigidJobsLeaveFreeWhileOthersWait) {
  constexpr int kCpus = 10;
  for (const auto& row : malleable_paper::kFigure2) {
    if (row.policy == "fcfs-malleable") continue;  // its 0 % is a misprint: docs/policies/fcfs-malleable.md
    const int last_start = *std::ranges::max_element(row.starts), makespan = *std::ranges::max_element(row.ends);
    int free = 0;
    for (int t = 0; t < last_start; ++t) {
      free += kCpus;
      for (std::size_t j = 0; j < row.starts.size(); ++j)
        if (row.starts[j] <= t && t < row.ends[j]) free -= malleable_paper::kFigure2Sizes[j];
    }
    EXPECT_NEAR(row.fragmentation_percent, 100.0 * free / (makespan * kCpus), 1e-9) << row.policy;
  }
}

TEST(ScojoNumbers, SharesOfTheClassesAddUpAndWeighTheMeanSizes) {
  using namespace scojo_p_paper;
  for (const auto& [shares, sizes] : {std::pair{kShares, kOptimum}, std::pair{kSharesDowney, kOptimumDowney}}) {
    EXPECT_NEAR(shares.short_jobs + shares.medium + shares.long_jobs, shares.all, 1e-9);
    const double mean =
        (shares.short_jobs * sizes.short_jobs + shares.medium * sizes.medium + shares.long_jobs * sizes.long_jobs) /
        100;
    EXPECT_NEAR(mean, sizes.all, 0.5);  // printed as whole numbers
  }
}

TEST(ScojoNumbers, TwoGainsMakeTheThird) {
  using namespace scojo_p_paper;
  const double left = (1 - kCirneOverTraditional / 100) * (1 - kScojoOverCirne / 100);
  EXPECT_NEAR(left, 1 - kScojoOverTraditional / 100, 0.02);
}

TEST(ScojoNumbers, TimesAndScalabilityFollowFromTheEfficiencies) {
  using namespace scojo_p_paper;
  EXPECT_NEAR(kRuntimeMin, 2 * kEfficiencyOpt / kEfficiencyMin, 1e-9);
  EXPECT_NEAR(kRuntimeMax, kEfficiencyOpt / (2 * kEfficiencyMax), 1e-9);
  const auto sigma = [](double n) {
    return (2 * kEfficiencyMax - kEfficiencyOpt) * n / (kEfficiencyOpt * n - 1);  // (S_max - S_opt) / (S_opt - 1)
  };
  EXPECT_NEAR(sigma(2), kSigmaTwo, 0.005);
  EXPECT_NEAR(sigma(8), kSigmaEight, 0.005);
  EXPECT_NEAR(sigma(1e6), kSigmaLimit, 0.005);
}

TEST(ScojoNumbers, TheMeanFactorLiesBetweenThoseOfTheClasses) {
  using namespace scojo_p_paper;
  for (const double Range::*end : {&Range::least, &Range::most}) {
    const double mean =
        ((kShares.short_jobs + kShares.medium) * kScaledShortAndMedium.*end + kShares.long_jobs * kScaledLong.*end) /
        100;
    EXPECT_NEAR(mean, kScaled.*end, 0.04);
  }
  EXPECT_GT(kScaledLongUnpredicted.middle(), kScaledLong.middle());
}

// tests/data/glomarc_tables.csv: table,quantity,row,column,value.
std::map<std::string, double> glomarc_table_values() {
  std::map<std::string, double> values;
  std::ifstream file(std::string{REPLAY_SOURCE_DIR} + "/tests/data/glomarc_tables.csv");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(','), second = line.find(',', first + 1), last = line.rfind(',');
    if (line.starts_with("table5") || line.starts_with("table6") || line.starts_with("text"))
      values[line.substr(first + 1, second - first - 1)] = std::stod(line.substr(last + 1));
  }
  return values;
}

TEST(GlomarcNumbers, AreThoseOfTheTablesAndTheText) {
  using namespace glomarc_paper;
  const auto values = glomarc_table_values();
  const std::pair<const char*, double> numbers[] = {{"alpha_W1", kAlphaW1},
                                                    {"alpha_W2", kAlphaW2},
                                                    {"machine_nodes", kNodes},
                                                    {"cores_per_node", kCpusPerNode * kCoresPerCpu},
                                                    {"percent_short_le_10min", kJobShares.short_jobs},
                                                    {"percent_medium_le_3h", kJobShares.medium},
                                                    {"percent_long", kJobShares.long_jobs},
                                                    {"work_short_percent", kWorkShares.short_jobs},
                                                    {"work_medium_percent", kWorkShares.medium},
                                                    {"work_long_percent", kWorkShares.long_jobs},
                                                    {"serial_percent", kSerialPercent},
                                                    {"pow2_percent", kPowerOfTwoPercent},
                                                    {"BLOCK_SIZE", kBlockSize},
                                                    {"F_slack", kSlackFactor},
                                                    {"N_H", kHighLoad},
                                                    {"RR_improvement_vs_SSP_medium_percent", kOverSsp.medium},
                                                    {"RR_improvement_vs_SSP_long_percent", kOverSsp.long_jobs},
                                                    {"RR_improvement_vs_SSP_all_percent", kOverSsp.all},
                                                    {"vs_CST_medium", kOverCst.medium},
                                                    {"vs_CST_long", kOverCst.long_jobs},
                                                    {"vs_CST_all", kOverCst.all},
                                                    {"vs_CSTWS_medium", kOverCstws.medium},
                                                    {"vs_CSTWS_long", kOverCstws.long_jobs},
                                                    {"vs_CSTWS_all", kOverCstws.all},
                                                    {"core_util_gain_vs_SSP_percent", kCoresOverSsp},
                                                    {"core_util_gain_vs_CST_percent", kCoresOverCst},
                                                    {"core_util_gain_vs_CSTWS_percent", kCoresOverCstws},
                                                    {"avg_jobs_per_group_W1", kGroupSizeW1},
                                                    {"groups_W1", kGroupsW1},
                                                    {"jobs_in_group_percent_of_eligible", kInGroupPercent},
                                                    {"delay_factor_p75", kDelayP75},
                                                    {"delay_factor_p95", kDelayP95},
                                                    {"avg_group_size_W2", kGroupSizeW2},
                                                    {"groups_W2", kGroupsW2},
                                                    {"best_block_size_W2", kBestBlockSize},
                                                    {"SSP_W2_RR_medium", kSspOnW2.medium},
                                                    {"SSP_W2_RR_long", kSspOnW2.long_jobs},
                                                    {"SSP_W2_RR_all", kSspOnW2.all}};
  for (const auto& [name, number] : numbers) {
    const auto found = values.find(name);
    ASSERT_NE(found, values.end()) << name;
    EXPECT_DOUBLE_EQ(number, found->second) << name;
  }
}

TEST(GlomarcNumbers, SharesAddUpAndAThirdMayShareNodes) {
  using namespace glomarc_paper;
  EXPECT_DOUBLE_EQ(kJobShares.short_jobs + kJobShares.medium + kJobShares.long_jobs, 100);
  EXPECT_DOUBLE_EQ(kWorkShares.short_jobs + kWorkShares.medium + kWorkShares.long_jobs, 100);
  EXPECT_DOUBLE_EQ(kJobShares.medium + kJobShares.long_jobs, kEligiblePercent);
}

TEST(GlomarcNumbers, FifteenHundredIsANumberOfJobsNotOfGroups) {
  using namespace glomarc_paper;
  const double eligible = kEligiblePercent / 100 * kJobs;
  EXPECT_NEAR(kInGroupPercent / 100 * eligible, kGroupsW1, 0.002 * eligible);
  EXPECT_GT(kGroupsW1 * kGroupSizeW1, eligible);
}

}  // namespace
}  // namespace replay::study
