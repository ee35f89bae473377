#include "launcher/agent/cores/busy_cores.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

namespace replay::launcher {
namespace {

constexpr std::uint64_t kTickNs = 10'000'000;
using Set = std::set<std::uint32_t>;
using Ranks = std::map<pid_t, std::uint64_t>;

/// CPU time of a rank: so many ticks of core time.
constexpr std::uint64_t ticks(std::uint64_t count) { return count * kTickNs; }

TEST(ParseCoreTimes, ReadsTheLinesOfCores) {
  const auto times = parse_core_times(
      "cpu  30 0 6 100 4 0 2 0 0 0\ncpu0 10 1 2 50 3 4 5 6 7 8\ncpu12 20 0 4 50 1 0 2\ncpu3 1 2 3\ncpu4 1 x 3 4 5 6 7 "
      "8\n"
      "intr 5 0\ncpufreq 1 2 3 4 5 6 7\n");
  EXPECT_EQ(times, (std::map<std::uint32_t, CoreTime>{{0, {22, 53}}, {12, {26, 51}}}));
  EXPECT_TRUE(parse_core_times("").empty());
}

TEST(BusyCoresTest, ACoreIsBusyWhenOthersHaveATenthOfItsTime) {
  BusyCores cores{kTickNs, {{{0, {1000, 1000}}, {1, {0, 0}}, {2, {500, 0}}}, {}}};
  EXPECT_EQ(cores.judge({{{0, {1009, 1091}}, {1, {10, 90}}, {2, {600, 0}}}, {}}), (Set{1, 2}));
  EXPECT_EQ(cores.judge({{{0, {1109, 1091}}, {1, {10, 190}}, {2, {600, 100}}}, {}}), Set{0}) << "it changes both ways";
}

TEST(BusyCoresTest, WhatItsRanksUseIsNotOfOthers) {
  BusyCores cores{kTickNs, {{{0, {0, 0}}, {1, {0, 0}}}, {{0, {{7, ticks(50)}, {8, 0}}}, {1, {{9, 0}}}}}};
  const Set found = cores.judge(
      {{{0, {100, 0}}, {1, {100, 0}}}, {{0, Ranks{{7, ticks(100)}, {8, ticks(49)}}}, {1, Ranks{{9, ticks(60)}}}}});
  EXPECT_EQ(found, Set{1});
}

TEST(BusyCoresTest, ACoreToWhichARankHasComeIsAsBefore) {
  BusyCores cores{kTickNs, {{{0, {0, 0}}}, {}}};
  ASSERT_EQ(cores.judge({{{0, {50, 50}}}, {}}), Set{0});
  EXPECT_EQ(cores.judge({{{0, {150, 50}}}, {{0, Ranks{{7, ticks(1000)}}}}}), Set{0}) << "it has computed elsewhere";
  EXPECT_EQ(cores.judge({{{0, {250, 50}}}, {{0, Ranks{{7, ticks(1100)}}}}}), Set{});
}

TEST(BusyCoresTest, ACoreThatARankHasLeftIsAsBefore) {
  const std::map<std::uint32_t, Ranks> ranks = {{0, Ranks{{7, 0}}}, {1, Ranks{{8, 0}}}};
  BusyCores cores{kTickNs, {{{0, {0, 0}}, {1, {0, 0}}}, ranks}};
  ASSERT_EQ(cores.judge({{{0, {50, 50}}, {1, {0, 100}}}, ranks}), Set{0});
  EXPECT_EQ(cores.judge({{{0, {50, 150}}, {1, {100, 100}}}, {}}), Set{0});
  EXPECT_EQ(cores.judge({{{0, {50, 250}}, {1, {200, 100}}}, {}}), Set{1}) << "no rank left meanwhile";
}

TEST(BusyCoresTest, AfterFewerThanTenTicksACoreIsAsBefore) {
  BusyCores cores{kTickNs, {{{0, {0, 0}}, {1, {0, 0}}}, {}}};
  ASSERT_EQ(cores.judge({{{0, {100, 0}}, {1, {0, 100}}}, {}}), Set{0});
  EXPECT_EQ(cores.judge({{{0, {100, 9}}, {1, {9, 100}}}, {}}), Set{0});
  EXPECT_EQ(cores.judge({{{0, {100, 19}}, {1, {19, 100}}}, {}}), Set{1});
}

TEST(BusyCoresTest, ACoreThatIsNewOrGoneIsNotBusy) {
  BusyCores cores{kTickNs, {{{0, {0, 0}}}, {}}};
  EXPECT_EQ(cores.judge({{{1, {100, 0}}}, {}}), Set{});
  EXPECT_EQ(cores.judge({{{1, {90, 0}}}, {}}), Set{}) << "a count that runs backwards";
}

TEST(SampleCores, ShowsThisProcess) {
  const CoreSample sample = sample_cores({{3, {::getpid(), 999'999'999}}});
  EXPECT_FALSE(sample.times.empty());
  ASSERT_EQ(sample.ranks.size(), 1U);
  EXPECT_EQ(sample.ranks.at(3).size(), 1U);
  EXPECT_GT(sample.ranks.at(3).at(::getpid()), 0U);
}

}  // namespace
}  // namespace replay::launcher
