// Tests of what processes want of a core, and of which jobs need turns for it.
#include "launcher/agent/cores/demand.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

double share_of(const Demand::Use& use) {
  Demand demand;
  demand.add(use);
  return demand.share();
}

TEST(ADemand, IsTheShareOfTheTimeThatAProcessComputes) {
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 200ms}), 0.4);
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 0ms}), 0);
}

TEST(ADemand, IsTheSameWhenOthersHadTheCoreMeanwhile) {
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 100ms, .kept = 250ms}), 0.4);
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 250ms, .kept = 250ms}), 1);
}

TEST(ADemand, OfAProcessThatWaitsInMpiIsThatOfOneThatComputes) {
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 100ms, .blocked = 400ms}), 1);
  EXPECT_DOUBLE_EQ(share_of({.length = 500ms, .computed = 450ms, .blocked = 400ms}), 1) << "it polls";
}

TEST(ADemand, IsAWholeCoreUntilItIsKnown) {
  Demand demand;
  for (int i = 0; i < 10; ++i) {
    EXPECT_DOUBLE_EQ(demand.share(), 1);
    demand.add({.length = 25ms, .computed = 5ms});
  }
  EXPECT_DOUBLE_EQ(demand.share(), 0.2);
}

TEST(ADemand, FollowsTheProcess) {
  Demand demand;
  demand.add({.length = 300ms, .computed = 30ms});
  EXPECT_DOUBLE_EQ(demand.share(), 0.1);
  demand.add({.length = 300ms, .computed = 300ms});
  EXPECT_DOUBLE_EQ(demand.share(), 1);
}

TEST(TheDemandOfAJob, IsThatOfTheProcessesThatMayShareACore) {
  EXPECT_DOUBLE_EQ(demand_of_job({0.25, 0.5}, 2), 0.5);
  EXPECT_DOUBLE_EQ(demand_of_job({0.25, 0.5, 0.125}, 2), 0.75) << "shrunk: two on one of the cores";
  EXPECT_DOUBLE_EQ(demand_of_job({0.5, 0.75}, 1), 1);
  EXPECT_DOUBLE_EQ(demand_of_job({0.25, 0.5, 0.001, 0}, 2), 0.5) << "a shell that waits for each rank";
  EXPECT_DOUBLE_EQ(demand_of_job({}, 2), 0);
}

Turns::Job job(char name, std::set<std::uint32_t> cores, double demand) {
  return {.id = JobId{name}, .cores = std::move(cores), .demand = demand};
}
/// "A01 B1": the jobs that need turns, and for which of their cores.
std::string contended(std::vector<Turns::Job> jobs) {
  keep_contended(jobs);
  std::string text;
  for (const Turns::Job& left : jobs) {
    text += (text.empty() ? "" : " ") + std::string{static_cast<char>(left.id)};
    for (const std::uint32_t core : left.cores) text += std::to_string(core);
  }
  return text;
}

TEST(Turns, AreForJobsThatComputeOnTheSameCores) {
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {0, 1}, 1)}), "A01 B01");
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {2, 3}, 1)}), "");
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {1, 2}, 1), job('C', {3}, 1)}), "A1 B1");
}

TEST(Turns, AreNotForJobsOfWhichEachFindsWhatItNeeds) {
  EXPECT_EQ(contended({job('A', {0, 1}, 0.3), job('B', {0, 1}, 0.5)}), "");
  EXPECT_EQ(contended({job('A', {0, 1}, 0.5), job('B', {0, 1}, 0.52)}), "");
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {0, 1}, 0.05)}), "");
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {0, 1}, 0.4)}), "A01 B01");
}

TEST(Turns, AreNotForJobsThatAllSleep) {
  EXPECT_EQ(contended({job('A', {0, 1}, 0.7), job('B', {0, 1}, 0.7)}), "");
  EXPECT_EQ(contended({job('A', {0}, 0.5), job('B', {0}, 0.4), job('C', {0}, 0.9)}), "A0 B0 C0");
}

TEST(Turns, InAChainAreForThoseThatMeetWhereTheCoreIsTooSmall) {
  EXPECT_EQ(contended({job('A', {0, 1}, 1), job('B', {1, 2}, 0.8), job('C', {2, 3}, 0.1)}), "A1 B1");
}

}  // namespace
}  // namespace replay::launcher
