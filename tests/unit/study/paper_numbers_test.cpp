// Tests of the papers' tables: relations between the columns that a wrongly copied number would break.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/study/dynp/numbers.hpp"
#include "scheduler/study/fcfs_malleable/numbers.hpp"
#include "scheduler/study/g_lomarc_ts/numbers.hpp"
#include "scheduler/study/scojo_p/numbers.hpp"
#include "scheduler/study/slack/numbers.hpp"

namespace replay::study {
namespace {

std::vector<std::string> slack_rows() {
  std::vector<std::string> rows{slack_paper::kMonths.begin(), slack_paper::kMonths.end()};
  rows.emplace_back("all");
  return rows;
}

double slack(std::string_view table, std::string_view row, std::string_view column) {
  return slack_printed().at(table, row, column);
}

TEST(SlackNumbers, AllJobsAreAFifthHighAndTheRestLow) {
  for (const std::string& row : slack_rows())
    EXPECT_NEAR(slack("table 2", row, "unequal, all"),
                0.2 * slack("table 2", row, "high") + 0.8 * slack("table 2", row, "low"), 0.5)
        << row;
}

TEST(SlackNumbers, ImprovementFollowsFromTheWaits) {
  for (const std::string& row : slack_rows()) {
    const double equal = slack("table 1", row, "slack");
    EXPECT_NEAR(slack("table 1", row, "gain"), (1 - equal / slack("table 1", row, "conservative")) * 100, 0.1) << row;
    EXPECT_EQ(slack("table 2", row, "equal, all"), equal) << row;
  }
}

TEST(SlackNumbers, HeuristicsAreComparedWithAscendingScheduledTime) {
  const double best = slack("table 3", slack_paper::kHeuristics[0].name, "equal"),
               conservative = slack("table 1", "all", "conservative");
  EXPECT_NEAR(best, slack("table 1", "all", "slack"), 0.1);
  for (const auto& [key, name] : slack_paper::kHeuristics) {
    SCOPED_TRACE(key);
    const auto printed = [of = name](std::string_view column) { return slack("table 3", of, column); };
    EXPECT_NEAR(printed("gap"), printed("low") - printed("high"), 0.15);
    EXPECT_NEAR(printed("loss"), (printed("unequal") / best - 1) * 100, 0.1);
    EXPECT_NEAR(printed("unequal"), 0.2 * printed("high") + 0.8 * printed("low"), 0.5);
    EXPECT_NEAR(printed("gain"), (1 - printed("equal") / conservative) * 100, 0.2);
  }
}

TEST(SlackNumbers, FiguresRepeatTheTables) {
  EXPECT_EQ(slack("figure 9", "3", "gain"), slack("table 1", "all", "gain"));
  EXPECT_EQ(slack("figure 10", "0", "all"), slack("table 2", "all", "equal, all"));
  EXPECT_EQ(slack("figure 10", "2", "all"), slack("table 2", "all", "unequal, all"));
  for (const char* column : {"high", "low"})
    EXPECT_EQ(slack("figure 10", "2", column), slack("table 2", "all", column)) << column;
}

constexpr std::string_view kDynpLogs[] = {"CTC", "KTH", "LANL", "SDSC"},
                           kDynpFactors[] = {"1", "0.9", "0.8", "0.7", "0.6"};

double dynp(std::string_view log, std::string_view factor, std::string_view column) {
  return dynp_printed().at("tables 4 and 5", fmt::format("{} {}", log, factor), column);
}

TEST(DynpNumbers, GainsAndDifferencesAreToSjf) {
  for (const std::string_view log : kDynpLogs)
    for (const std::string_view factor : kDynpFactors) {
      SCOPED_TRACE(testing::Message() << log << " " << factor);
      const auto printed = [=](std::string_view column) { return dynp(log, factor, column); };
      const double sjf = printed("SLDwA SJF"), used = printed("utilisation SJF");
      const double rounding = 100 * 0.01 / sjf + 0.01;  // SLDwA is printed with two decimals
      EXPECT_NEAR(printed("gain advanced"), (1 - printed("SLDwA advanced") / sjf) * 100, rounding);
      EXPECT_NEAR(printed("gain preferred"), (1 - printed("SLDwA SJF-preferred") / sjf) * 100, rounding);
      EXPECT_NEAR(printed("difference advanced"), printed("utilisation advanced") - used, 0.011);
      EXPECT_NEAR(printed("difference preferred"), printed("utilisation SJF-preferred") - used, 0.011);
      for (const char* policy : {"FCFS", "LJF"}) {
        EXPECT_GT(printed(fmt::format("SLDwA {}", policy)), 1);
        EXPECT_GT(printed(fmt::format("utilisation {}", policy)), 60);
      }
    }
}

TEST(DynpNumbers, Table3IsTheMeanOfTable5) {
  for (const std::string_view log : kDynpLogs)
    for (const char* column : {"gain advanced", "gain preferred", "difference advanced", "difference preferred"}) {
      double sum = 0;
      for (const std::string_view factor : kDynpFactors) sum += dynp(log, factor, column);
      EXPECT_NEAR(sum / 5, dynp_printed().at("table 3", log, column), 0.011) << log << ", " << column;
    }
}

TEST(MalleableNumbers, HaveARowForEachLog) {
  for (const auto& [log, jobs] : malleable_paper::kLogs) {
    SCOPED_TRACE(log);
    EXPECT_LT(malleable_printed().at("table 2", log, "CPU use"),
              malleable_printed().at("table 2", log, "their CPU use"));
    EXPECT_LT(malleable_printed().at("table 3", log, "MPL easy"),
              malleable_printed().at("table 3", log, "MPL fcfs-malleable"));
  }
  EXPECT_EQ(malleable_printed().find("table 3", "SDSC-BLUE", "fragmentation easy"), std::nullopt);
}

constexpr const char* kInFigure2[] = {"fcfs", "easy", "fcfs-malleable"};

// "start" or "end" of the jobs.
std::vector<double> times_of_figure_2(const char* policy, const char* time) {
  std::vector<double> times;
  for (std::size_t j = 1; j <= malleable_paper::kFigure2Sizes.size(); ++j)
    times.push_back(malleable_printed().at("figure 2, starts and ends", policy, fmt::format("{} J{}", time, j)));
  return times;
}

TEST(MalleableNumbers, AveragesOfFigure2FollowFromItsStartsAndEnds) {
  for (const char* policy : kInFigure2) {
    SCOPED_TRACE(policy);
    const std::vector<double> starts = times_of_figure_2(policy, "start"), ends = times_of_figure_2(policy, "end");
    double response = 0, slowdown = 0;
    for (std::size_t j = 0; j < ends.size(); ++j) {
      EXPECT_LT(starts[j], ends[j]);
      response += ends[j];
      slowdown += ends[j] / malleable_paper::kFigure2Runtimes.at(j);
    }
    EXPECT_NEAR(malleable_printed().at("figure 2", policy, "response"), response / 6, 1e-9);
    EXPECT_NEAR(malleable_printed().at("figure 2", policy, "slowdown"), slowdown / 6, 1e-9);
  }
}

TEST(MalleableNumbers, FragmentationOfFigure2IsWhatRigidJobsLeaveFreeWhileOthersWait) {
  constexpr int kCpus = 10;
  for (const char* policy : {"fcfs", "easy"}) {  // the 0 % of fcfs-malleable is a misprint: its page in docs/policies
    const std::vector<double> starts = times_of_figure_2(policy, "start"), ends = times_of_figure_2(policy, "end");
    const double last_start = std::ranges::max(starts), makespan = std::ranges::max(ends);
    int free = 0;
    for (int t = 0; t < last_start; ++t) {
      free += kCpus;
      for (std::size_t j = 0; j < starts.size(); ++j)
        if (starts[j] <= t && t < ends[j]) free -= malleable_paper::kFigure2Sizes.at(j);
    }
    EXPECT_NEAR(malleable_printed().at("figure 2", policy, "fragmentation"), 100.0 * free / (makespan * kCpus), 1e-9)
        << policy;
  }
}

TEST(ScojoNumbers, SharesOfTheClassesAddUpAndWeighTheMeanSizes) {
  for (const char* row : {"three points", "Downey"}) {
    double shares = 0, sizes = 0;
    for (const char* group : {"short", "medium", "long"}) {
      const double share = scojo_printed().at("workloads", row, group);
      shares += share;
      sizes += share * scojo_printed().at("workloads", row, fmt::format("N_opt {}", group)) / 100;
    }
    EXPECT_NEAR(shares, 100, 1e-9);
    EXPECT_NEAR(sizes, scojo_printed().at("workloads", row, "N_opt all"), 0.5);  // printed as whole numbers
  }
}

TEST(ScojoNumbers, TwoGainsMakeTheThird) {
  const auto left = [](const char* gain) { return 1 - scojo_printed().at("gains", gain, "mean") / 100; };
  EXPECT_NEAR(left("W1, Cirne-Berman over traditional") * left("W1, SCOJO-P over Cirne-Berman, response of all jobs"),
              left("W1, SCOJO-P over traditional"), 0.02);
}

TEST(ScojoNumbers, TheMeanFactorLiesBetweenThoseOfTheClasses) {
  const auto share = [](const char* group) { return scojo_printed().at("workloads", "three points", group) / 100; };
  const auto factor = [](const char* group) {
    return scojo_printed().at("sizes", "W1, SCOJO-P", fmt::format("modifier, shrunk, {}", group));
  };
  double mean = 0;
  for (const char* group : {"short", "medium", "long"}) mean += share(group) * factor(group);
  EXPECT_NEAR(mean, factor("all"), 0.04);
  EXPECT_GT(scojo_printed().at("sizes", "W1, SCOJO-P, no prediction", "modifier, shrunk, long"), factor("long"));
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

double printed(std::string_view table, std::string_view row, std::string_view column) {
  return glomarc_printed().at(table, row, column);
}

TEST(GlomarcNumbers, AreThoseOfTheTablesAndTheText) {
  using namespace glomarc_paper;
  const auto values = glomarc_table_values();
  const std::pair<const char*, double> numbers[] = {
      {"alpha_W1", kAlphaW1},
      {"alpha_W2", kAlphaW2},
      {"machine_nodes", kNodes},
      {"cores_per_node", kCpusPerNode * kCoresPerCpu},
      {"percent_short_le_10min", printed("table 5", "workloads", "short, jobs")},
      {"percent_medium_le_3h", printed("table 5", "workloads", "medium, jobs")},
      {"percent_long", printed("table 5", "workloads", "long, jobs")},
      {"work_short_percent", printed("table 5", "workloads", "short, work")},
      {"work_medium_percent", printed("table 5", "workloads", "medium, work")},
      {"work_long_percent", printed("table 5", "workloads", "long, work")},
      {"serial_percent", printed("table 5", "workloads", "serial")},
      {"pow2_percent", printed("table 5", "workloads", "power of two")},
      {"BLOCK_SIZE", kBlockSize},
      {"F_slack", kSlackFactor},
      {"N_H", kHighLoad},
      {"RR_improvement_vs_SSP_medium_percent", printed("gains", "SSP, medium", "mean")},
      {"RR_improvement_vs_SSP_long_percent", printed("gains", "SSP, long", "mean")},
      {"RR_improvement_vs_SSP_all_percent", printed("gains", "SSP, all", "mean")},
      {"vs_CST_medium", printed("gains", "CST, medium", "mean")},
      {"vs_CST_long", printed("gains", "CST, long", "mean")},
      {"vs_CST_all", printed("gains", "CST, all", "mean")},
      {"vs_CSTWS_medium", printed("gains", "CSTWS, medium", "mean")},
      {"vs_CSTWS_long", printed("gains", "CSTWS, long", "mean")},
      {"vs_CSTWS_all", printed("gains", "CSTWS, all", "mean")},
      {"core_util_gain_vs_SSP_percent", printed("core use", "SSP", "mean")},
      {"core_util_gain_vs_CST_percent", printed("core use", "CST", "mean")},
      {"core_util_gain_vs_CSTWS_percent", printed("core use", "CSTWS", "mean")},
      {"avg_jobs_per_group_W1", printed("groups", "W1, GLTS", "jobs of a group")},
      {"groups_W1", printed("groups", "W1, GLTS", "groups")},
      {"jobs_in_group_percent_of_eligible", printed("groups", "W1, GLTS", "medium and long jobs in groups")},
      {"delay_factor_p75", printed("delays W1", "GLTS", "medium, 75 %")},
      {"delay_factor_p95", printed("delays W1", "GLTS", "long, 95 %")},
      {"avg_group_size_W2", printed("groups", "W2, GLTS", "jobs of a group")},
      {"groups_W2", printed("groups", "W2, GLTS", "groups")},
      {"best_block_size_W2", kBestBlockSize},
      {"SSP_W2_RR_medium", printed("W2", "SSP", "medium")},
      {"SSP_W2_RR_long", printed("W2", "SSP", "long")},
      {"SSP_W2_RR_all", printed("W2", "SSP", "all, bound 600 s")}};
  for (const auto& [name, number] : numbers) {
    const auto found = values.find(name);
    ASSERT_NE(found, values.end()) << name;
    EXPECT_DOUBLE_EQ(number, found->second) << name;
  }
}

TEST(GlomarcNumbers, SharesAddUpAndAThirdMayShareNodes) {
  const auto share = [](const char* column) { return printed("table 5", "workloads", column); };
  EXPECT_DOUBLE_EQ(share("short, jobs") + share("medium, jobs") + share("long, jobs"), 100);
  EXPECT_DOUBLE_EQ(share("short, work") + share("medium, work") + share("long, work"), 100);
  EXPECT_DOUBLE_EQ(share("medium, jobs") + share("long, jobs"), glomarc_paper::kEligiblePercent);
}

TEST(GlomarcNumbers, DelaysAreThoseOfMediumAndOfLongJobs) {
  for (const char* figure : {"mean", "75 %", "95 %"})
    for (const char* group : {"medium and long", "long"})
      EXPECT_EQ(printed("delays W1", "GLTS", fmt::format("{}, {}", group, figure)),
                printed("delays W1", "GLTS", fmt::format("medium, {}", figure)));
}

TEST(GlomarcNumbers, FifteenHundredIsANumberOfJobsNotOfGroups) {
  using namespace glomarc_paper;
  const double eligible = kEligiblePercent / 100 * kJobs, groups = printed("groups", "W1, GLTS", "groups");
  EXPECT_NEAR(printed("groups", "W1, GLTS", "medium and long jobs in groups") / 100 * eligible, groups,
              0.002 * eligible);
  EXPECT_GT(groups * printed("groups", "W1, GLTS", "jobs of a group"), eligible);
}

TEST(Printed, ReadsTablesWithLongHeadsAndEmptyCells) {
  const Printed numbers{"\nfirst | a |\n  b\nx | 1 | \n\nsecond | a\nx | -2.5\ny | 3\n"};
  EXPECT_EQ(numbers.at("first", "x", "a"), 1);
  EXPECT_EQ(numbers.find("first", "x", "b"), std::nullopt);
  EXPECT_EQ(numbers.at("second", "x", "a"), -2.5);
  EXPECT_EQ(numbers.find("second", "z", "a"), std::nullopt);
}

TEST(Printed, RefusesWhatIsNoTable) {
  const InvariantsThrow throwing;
  for (const char* text : {"t | a\nx", "t | a\nx | many", "t | a\nx | 1\nx | 2", "t | a\nx | 1 | 2"})
    EXPECT_THROW(Printed{text}, BrokenInvariant) << text;
  EXPECT_THROW(static_cast<void>(Printed{"t | a\nx | 1"}.at("t", "x", "b")), BrokenInvariant);
}

}  // namespace
}  // namespace replay::study
