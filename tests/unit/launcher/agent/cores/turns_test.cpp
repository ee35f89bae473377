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

/// Jobs of which one spans hosts, on two of them whose looks come at different instants.
class TheTurnsOfHosts : public testing::Test {
 protected:
  using Jobs = std::vector<Turns::Job>;
  /// Who runs on a host with these jobs in each turn, a look in each, `late` after it has begun.
  static std::vector<std::set<JobId>> run(const Jobs& jobs, int turns, Turns::Time late) {
    Turns host{4ms};
    std::vector<std::set<JobId>> who;
    for (int turn = 0; turn < turns; ++turn) {
      const Turns::Time common = 1'795'000'000s + turn * 4ms + late;
      who.push_back(host.decide(jobs, 100s + turn * 4ms + late * 2, common));
      EXPECT_EQ(host.until_next(), 4ms - late);
    }
    return who;
  }
  static Jobs on_core_0(const std::string& names) {
    Jobs jobs;
    for (const char name : names) jobs.push_back({id(name), {0}});
    return jobs;
  }
};

TEST_F(TheTurnsOfHosts, AreTheSameOnAllOfThem) {
  EXPECT_EQ(run(on_core_0("AB"), 100, 0ms), run(on_core_0("AB"), 100, 3ms));
}

TEST_F(TheTurnsOfHosts, OfTwoJobsEachHasEveryOtherTurn) {
  const auto who = run(on_core_0("AB"), 100, 1ms);
  for (std::size_t turn = 0; turn < who.size(); turn += 2) {
    EXPECT_EQ(who[turn].size(), 1U);
    EXPECT_NE(who[turn], who[turn + 1]) << turn;
  }
}

TEST_F(TheTurnsOfHosts, AJobThatComesFirstOfManyComesFirstOfFewToo) {
  const auto three = run(on_core_0("ABC"), 600, 0ms), two = run(on_core_0("AC"), 600, 2ms);
  std::map<JobId, int> first;
  for (std::size_t turn = 0; turn < three.size(); ++turn) {
    ++first[*three[turn].begin()];
    EXPECT_TRUE(three[turn].contains(id('B')) || three[turn] == two[turn]) << turn;
  }
  for (const char job : {'A', 'B', 'C'}) EXPECT_NEAR(first[id(job)], 200, 40) << job;
}

TEST_F(TheTurnsOfHosts, AJobThatWaitsLendsItsCoresThere) {
  Jobs jobs = on_core_0("AB");
  Turns host{4ms};
  const std::set<JobId> first = host.decide(jobs, 100s, 8ms);
  ASSERT_EQ(first.size(), 1U);
  std::ranges::find(jobs, *first.begin(), &Turns::Job::id)->waits = true;
  EXPECT_EQ(host.decide(jobs, 100s + 1ms, 9ms).size(), 2U);
}

TEST_F(TheTurnsOfHosts, EndWithTheLastJobThatSpansThem) {
  Turns host{4ms};
  (void)host.decide(on_core_0("AB"), 100s, 9ms);
  const std::set<JobId> now = host.decide(on_core_0("AB"), 100s + 1ms);
  EXPECT_EQ(now.size(), 1U);
  EXPECT_LE(host.until_next(), Turns::Time{4ms});
}

}  // namespace
}  // namespace replay::launcher
