// The check of which jobs may share what, on logs with planted breaches: one node of two CPUs with two cores each, and a second
// such node.
#include <gtest/gtest.h>

#include "tests/support/sharing/occupation.hpp"
#include "tests/support/sharing_policies.hpp"

namespace replay::test {
namespace {

const Machine kRuleNodes = Machine::cluster(2, 2, 2);

Allocation lies_on(std::initializer_list<int> cores, bool shareable = false) {
  Allocation allocation;
  allocation.cores = static_cast<CoreCount>(cores.size());
  for (const int core : cores) allocation.named.push_back({static_cast<CoreId>(core), 1});
  allocation.shareable = shareable;
  return allocation;
}

class Plot {
 public:
  Plot& starts(char job, Duration when, const Allocation& where) { return add(when, log::Launched{id(job), where}); }
  Plot& moves(char job, Duration when, const Allocation& where) { return add(when, log::ResizeDone{id(job), where}); }
  Plot& sleeps(char job, Duration when) { return add(when, log::SuspendDone{id(job)}); }
  Plot& wakes(char job, Duration when) { return add(when, log::ResumeDone{id(job)}); }
  Plot& ends(char job, Duration when) { return add(when, log::Finished{id(job), {}}); }
  [[nodiscard]] std::string error(const SharingRule& rule = {}) const { return sharing_error(log_, kRuleNodes, rule); }

 private:
  Plot& add(Duration when, log::What what) {
    log_.record({at(when), std::move(what)});
    return *this;
  }
  MemoryLog log_;
};

TEST(SharingRule, FindsTwoJobsOnOneCore) {
  EXPECT_EQ(Plot{}.starts('A', 0s, lies_on({0, 1})).starts('B', 5s, lies_on({1, 2})).ends('A', 6s).error(),
            "at 5 s jobs 65 and 66 are on core 1");
}

TEST(SharingRule, FindsThemAfterAResize) {
  EXPECT_EQ(Plot{}.starts('A', 0s, lies_on({0})).starts('B', 0s, lies_on({1})).moves('A', 7s, lies_on({0, 1})).error(),
            "at 7 s jobs 66 and 65 are on core 1");
}

TEST(SharingRule, FindsThemAfterASleep) {
  const Plot plot = Plot{}.starts('A', 0s, lies_on({0})).sleeps('A', 2s).starts('B', 2s, lies_on({0})).wakes('A', 4s);
  EXPECT_EQ(plot.error(), "at 4 s jobs 66 and 65 are on core 0");
}

TEST(SharingRule, IsKeptByJobsThatFollowEachOther) {
  Plot plot;
  plot.starts('A', 0s, lies_on({0})).sleeps('A', 2s).starts('B', 2s, lies_on({0})).ends('B', 4s).wakes('A', 4s);
  EXPECT_EQ(plot.moves('A', 5s, lies_on({1})).starts('C', 5s, lies_on({0})).error(), "");
}

TEST(SharingRule, ToleratesWhatTakesNoTime) {
  EXPECT_EQ(Plot{}.starts('A', 3s, lies_on({0})).starts('B', 3s, lies_on({0})).ends('A', 3s).error(), "");
}

TEST(SharingRule, LetsTwoShareACoreIfBothSaySo) {
  const SharingRule cores{.cores = true};
  const Plot both = Plot{}.starts('A', 0s, lies_on({0}, true)).starts('B', 0s, lies_on({0}, true));
  EXPECT_EQ(both.error(cores), "");
  EXPECT_EQ(both.error(), "at 0 s jobs 65 and 66 are on core 0");
  EXPECT_EQ(Plot{}.starts('A', 0s, lies_on({0}, true)).starts('B', 0s, lies_on({0})).error(cores),
            "at 0 s jobs 65 and 66 are on core 0, and job 66 does not share");
}

TEST(SharingRule, NeverLetsThreeShareACore) {
  Plot plot;
  plot.starts('A', 0s, lies_on({0}, true)).starts('B', 0s, lies_on({0}, true)).starts('C', 1s, lies_on({0}, true));
  EXPECT_EQ(plot.error({.cores = true}), "at 1 s three jobs are on core 0");
}

TEST(SharingRule, MayKeepJobsOnCPUsOfTheirOwn) {
  const Plot plot = Plot{}.starts('A', 0s, lies_on({0})).starts('B', 1s, lies_on({1}));
  EXPECT_EQ(plot.error(), "");
  EXPECT_EQ(plot.error({.packages = false}), "at 1 s jobs 65 and 66 are on one CPU of node 0");
  EXPECT_EQ(Plot{}.starts('A', 0s, lies_on({0})).starts('B', 1s, lies_on({2, 4})).error({.packages = false}), "");
}

TEST(SharingRule, MayLimitTheJobsOnANode) {
  const Plot plot = Plot{}.starts('A', 0s, lies_on({0, 4})).starts('B', 1s, lies_on({1})).starts('C', 2s, lies_on({2}));
  EXPECT_EQ(plot.error({.jobs_on_node = 3}), "");
  EXPECT_EQ(plot.error({.jobs_on_node = 2}), "at 2 s 3 jobs are on node 0");
  EXPECT_EQ(plot.error({.jobs_on_node = 1}), "at 1 s 2 jobs are on node 0");
}

TEST(SharingRule, IsBrokenByAPolicyThatPutsJobsBesideOthersUnlessItMay) {
  Beside policy;
  const Machine machine = Machine::cluster(1, 1, 2);
  const MemoryLog log = simulate(policy, machine, {job('A').cores(2).runs(10s), job('B').cores(2).runs(10s)});
  EXPECT_EQ(sharing_error(log, machine, {.cores = true}), "");
  EXPECT_EQ(sharing_error(log, machine), "at 0 s jobs 65 and 66 are on core 0");
}

}  // namespace
}  // namespace replay::test
