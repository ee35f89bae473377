// Tests of dynP's deciders on the 36 rows that make Table 1 of the dynP paper concrete, and of the scheduler on
// schedules small enough to work out by hand.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "scheduler/policy/dynp/dynp_decider.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

DynpPolicy policy(const std::string& name) {
  static const std::map<std::string, DynpPolicy> kNames{
      {"FCFS", DynpPolicy::kFcfs}, {"SJF", DynpPolicy::kSjf}, {"LJF", DynpPolicy::kLjf}};
  return kNames.at(name);
}

struct Case {
  std::string name;
  DynpScores scores;
  DynpPolicy in_use, simple, advanced, sjf_preferred;
};

std::vector<Case> table_1() {
  std::ifstream file{REPLAY_SOURCE_DIR "/tests/data/dynp_table1_decider_cases.csv"};
  std::vector<Case> cases;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells{line};
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
    cases.push_back({cell[0],
                     {std::stoi(cell[1]), std::stoi(cell[2]), std::stoi(cell[3])},
                     policy(cell[4]),
                     policy(cell[5]),
                     policy(cell[6]),
                     policy(cell[7])});
  }
  return cases;
}

TEST(DynpDeciders, DecideAllCasesOfTable1) {
  const auto cases = table_1();
  ASSERT_EQ(cases.size(), 36u);
  for (const Case& row : cases) {
    const std::string what = "case " + row.name + ", in use " + std::to_string(static_cast<int>(row.in_use));
    EXPECT_EQ(decide_simple(row.scores), row.simple) << what;
    EXPECT_EQ(decide_advanced(row.scores, row.in_use), row.advanced) << what;
    EXPECT_EQ(decide_preferred(row.scores, row.in_use, DynpPolicy::kSjf, {}), row.sjf_preferred) << what;
  }
}

DynpPolicy sjf_preferred(const DynpScores& scores, DynpPolicy in_use, double threshold) {
  return decide_preferred(scores, in_use, DynpPolicy::kSjf, DynpThreshold::of(threshold));
}

TEST(DynpDeciders, ThePreferredOneIsLeftForOneThatIsBetterByMoreThanTheThreshold) {
  const DynpScores scores{100, 104, 90};
  EXPECT_EQ(sjf_preferred(scores, DynpPolicy::kSjf, 0.14), DynpPolicy::kSjf) << "14/104 = 0.135";
  EXPECT_EQ(sjf_preferred(scores, DynpPolicy::kSjf, 0.13), DynpPolicy::kLjf);
  // Higher utilisation is better, so its scores are negative.
  const DynpScores near{-80, -78, -81};
  EXPECT_EQ(sjf_preferred(near, DynpPolicy::kSjf, 0.05), DynpPolicy::kSjf) << "3/78 = 0.038";
  EXPECT_EQ(sjf_preferred(near, DynpPolicy::kSjf, 0.03), DynpPolicy::kLjf);
}

TEST(DynpDeciders, ThePreferredOneComesBackWhenItIsNoWorseThanTheOneInUseAndNoThirdBeatsIt) {
  EXPECT_EQ(sjf_preferred({100, 104, 90}, DynpPolicy::kLjf, 0.14), DynpPolicy::kLjf) << "worse than the one in use";
  EXPECT_EQ(sjf_preferred({100, 100, 100}, DynpPolicy::kLjf, 0.05), DynpPolicy::kSjf);
  EXPECT_EQ(sjf_preferred({80, 90, 95}, DynpPolicy::kLjf, 0.05), DynpPolicy::kFcfs) << "10/90: a third beats it";
  EXPECT_EQ(sjf_preferred({80, 90, 95}, DynpPolicy::kLjf, 0.12), DynpPolicy::kSjf);
}

// 0.29 x 100 is less than 29 in binary fractions.
TEST(DynpDeciders, WhatIsBetterByExactlyTheThresholdDoesNotBeatThePreferredOne) {
  for (int percent = 0; percent <= 100; ++percent) {
    const double threshold = percent / 100.0;
    EXPECT_EQ(sjf_preferred({100, 100, 100 - percent}, DynpPolicy::kSjf, threshold), DynpPolicy::kSjf) << percent;
    if (percent < 100) {
      EXPECT_EQ(sjf_preferred({100, 100, 99 - percent}, DynpPolicy::kSjf, threshold), DynpPolicy::kLjf) << percent;
    }
    // By utilisation: -1 / L, for plans with the last end L from now.
    const DynpScore mine{-1, 100 + percent}, best{-1, 100}, better{-1, 99};
    EXPECT_EQ(sjf_preferred({mine, mine, best}, DynpPolicy::kSjf, threshold), DynpPolicy::kSjf) << percent;
    EXPECT_EQ(sjf_preferred({mine, mine, better}, DynpPolicy::kSjf, threshold), DynpPolicy::kLjf) << percent;
  }
}

TEST(DynpDeciders, ScoresThatDifferInTheLastOfManyDigitsDiffer) {
  constexpr Wide kLarge = Wide{1'000'000'000'000'000'000} * 1'000'000;
  EXPECT_EQ(decide_simple({kLarge + 1, kLarge, kLarge + 2}), DynpPolicy::kSjf);
  EXPECT_EQ(sjf_preferred({kLarge * 3 / 4 - 1, kLarge, kLarge}, DynpPolicy::kSjf, 0.25), DynpPolicy::kFcfs);
  EXPECT_EQ(sjf_preferred({kLarge * 3 / 4, kLarge, kLarge}, DynpPolicy::kSjf, 0.25), DynpPolicy::kSjf);
}

// Equal plans have equal scores, in whatever order they list the jobs: simple then keeps the first, FCFS. Here all wait
// for A and start together when it ends; in floating point, sums of such ratios would depend on their order in the last
// digit.
TEST(Dynp, EqualPlansTie) {
  for (const std::string metric : {"sldwa", "response", "slowdown", "bsld60", "utilisation"})
    for (const auto later : {2s, 4s, 9s, 16s}) {
      const auto log = simulate(
          "dynp:decider=simple:metric=" + metric, cores(8),
          {job('A').cores(8).runs(10min), job('B').cores(1).runs(7min).arrives(later),
           job('C').cores(1).runs(1min).arrives(2 * later), job('D').cores(2).runs(3min).arrives(3 * later),
           job('E').cores(1).runs(11min).arrives(4 * later), job('F').cores(3).runs(13min).arrives(5 * later)});
      for (const log::Record& record : log.records()) {
        const auto* note = std::get_if<log::Note>(&record.what);
        EXPECT_TRUE(note == nullptr || note->text == "dynp fcfs") << metric << ": " << note->text;
      }
    }
}

TEST(Dynp, TakesThePlanThatLooksBest) {
  // By width x start: FCFS has B (4 x 1 min) and C (4 x 4 min), SJF has C first: 4 x 1 and 4 x 2 min.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(1min), job('B').cores(4).runs(3min).arrives(10s),
                                    job('C').cores(4).runs(1min).arrives(20s)};
  EXPECT_EQ(gantt(simulate("dynp", cores(4), jobs), 1, 1min), "ACBBB\n");
  EXPECT_EQ(gantt(simulate("dynp:decider=preferred:preferred=fcfs:threshold=1", cores(4), jobs), 1, 1min), "ABBBC\n");
}

TEST(Dynp, WithAPreferredPolicyThatIsNeverLeftIsThatPolicy) {
  for (const char* name : {"fcfs", "sjf", "ljf"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto jobs = random_jobs(seed, 150, 16);
      const auto plan = simulate(std::string{"plan:order="} + name, cores(16), jobs, "rigid");
      const auto dynp =
          simulate(std::string{"dynp:decider=preferred:threshold=1:preferred="} + name, cores(16), jobs, "rigid");
      ASSERT_EQ(dynp.decisions(), plan.decisions()) << name << ", seed " << seed;
    }
}

}  // namespace
}  // namespace replay::test
