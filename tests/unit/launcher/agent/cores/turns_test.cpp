// Tests of the turns of jobs on the same cores, on a clock that the tests set: which jobs run, as a row of letters, one for
// each millisecond.
#include "launcher/agent/cores/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

JobId id(char job) { return JobId{job}; }

class TheTurns : public testing::Test {
 protected:
  void have(char job, std::set<std::uint32_t> cores) { jobs_.push_back({id(job), std::move(cores)}); }
  void remove(char job) {
    std::erase_if(jobs_, [job](const Turns::Job& j) { return j.id == id(job); });
  }
  void wait(char job, bool waits) { std::ranges::find(jobs_, id(job), &Turns::Job::id)->waits = waits; }

  /// The jobs that may run now: "A", "AC".
  std::string look() {
    std::string names;
    for (const JobId job : turns_.decide(jobs_, now_)) names += static_cast<char>(job);
    return names;
  }
  /// What look() says each millisecond, one after the other; what runs together stands in brackets.
  std::string run(int milliseconds) {
    std::string text;
    for (int i = 0; i < milliseconds; ++i, now_ += 1ms) {
      const std::string names = look();
      for (const char job : names) ++ran_[job];
      text += names.size() == 1 ? names : "(" + names + ")";
    }
    return text;
  }

  Turns turns_{4ms};
  Turns::Time now_ = 100s;
  std::vector<Turns::Job> jobs_;
  std::map<char, int> ran_;
};

TEST_F(TheTurns, TwoJobsOnTheSameCoresAlternate) {
  have('A', {0, 1});
  have('B', {0, 1});
  EXPECT_EQ(run(18), "AABBBBAAAABBBBAAAA");
}

TEST_F(TheTurns, OneCoreInCommonIsEnoughAndJobsWithoutOneRunAllTheTime) {
  have('A', {0, 1});
  have('B', {1, 2});
  have('C', {3});
  EXPECT_EQ(run(6), "(AC)(AC)(BC)(BC)(BC)(BC)");
}

TEST_F(TheTurns, InAChainThoseThatDoNotMeetAreOnTurnTogether) {
  have('A', {0, 1});
  have('B', {1, 2});
  have('C', {2, 3});
  EXPECT_EQ(run(8), "(AC)(AC)BBBB(AC)(AC)");
}

TEST_F(TheTurns, ThreeJobsOnACoreGetAThirdEach) {
  for (const char job : {'A', 'B', 'C'}) have(job, {0});
  run(600);
  for (const char job : {'A', 'B', 'C'}) EXPECT_NEAR(ran_[job], 200, 6) << job;
}

TEST_F(TheTurns, AJobThatComesIsNextAndHasNoClaimToThePast) {
  have('A', {0});
  EXPECT_EQ(run(50), std::string(50, 'A'));
  have('B', {0});
  EXPECT_EQ(run(12), "AABBBBAAAABB");
}

TEST_F(TheTurns, TheNeighbourOfAJobThatEndsRunsAtOnce) {
  have('A', {0});
  have('B', {0});
  EXPECT_EQ(run(4), "AABB");
  remove('B');
  EXPECT_EQ(run(3), "AAA");
  EXPECT_EQ(turns_.until_next(), std::nullopt);
}

TEST_F(TheTurns, AJobThatWaitsLendsItsCoresUntilItGoesOn) {
  have('A', {0});
  have('B', {0});
  EXPECT_EQ(run(1), "A");
  wait('A', true);
  EXPECT_EQ(run(3), "(AB)(AB)(AB)");
  wait('A', false);
  EXPECT_EQ(run(1), "A") << "it is still on turn";
}

TEST_F(TheTurns, WhatAJobLendsItMayUseLaterAsMuchAsATurn) {
  have('A', {0});
  have('B', {0});
  run(1);
  wait('A', true);
  run(100);
  wait('A', false);
  EXPECT_EQ(run(12), "AAAAAABBBBAA");
}

TEST_F(TheTurns, WhatAStoppedJobReportsDoesNotCount) {
  have('A', {0});
  have('B', {0});
  wait('B', true);
  EXPECT_EQ(run(4), "AAB(AB)") << "only once it runs is it seen to wait";
}

TEST_F(TheTurns, TwoJobsThatBothWaitBothRun) {
  have('A', {0});
  have('B', {0});
  run(1);
  wait('A', true);
  wait('B', true);
  EXPECT_EQ(run(3), "(AB)(AB)(AB)");
}

TEST_F(TheTurns, AHeldUpAgentCostsTheOtherJobAtMostATurn) {
  have('A', {0});
  have('B', {0});
  EXPECT_EQ(run(1), "A");
  now_ += 1s;
  EXPECT_EQ(run(10), "BBBBBBAAAA");
}

TEST_F(TheTurns, SayWhenTheyEnd) {
  have('A', {0});
  have('B', {0});
  EXPECT_EQ(look(), "A");
  EXPECT_EQ(turns_.until_next(), Turns::Time{2ms});
  now_ += 500us;
  EXPECT_EQ(look(), "A");
  EXPECT_EQ(turns_.until_next(), Turns::Time{1500us});
  now_ += 1500us;
  EXPECT_EQ(look(), "B");
  EXPECT_EQ(turns_.until_next(), Turns::Time{4ms});
}

}  // namespace
}  // namespace replay::launcher
