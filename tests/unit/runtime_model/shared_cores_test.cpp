#include "scheduler/runtime_model/shared_cores.hpp"

#include <gtest/gtest.h>

#include "tests/unit/model/core_loads.hpp"

namespace replay {
namespace {

constexpr JobId kA{1}, kB{2}, kC{3};

Allocation on_cores(const std::vector<test::OnCore>& loads) {
  Allocation allocation;
  allocation.cores = static_cast<CoreCount>(loads.size());
  for (const test::OnCore& load : loads) allocation.mpl = std::max<int>(allocation.mpl, load.processes);
  allocation.named = test::core_loads(loads);
  allocation.shareable = true;
  return allocation;
}

TEST(SharedCores, AJobAloneHasNeitherNeighboursNorDemand) {
  SharedCores cores;
  const Allocation on = on_cores({{0, 1}, {1, 1}});
  cores.enter(kA, on, 0.8);
  EXPECT_TRUE(cores.neighbours(kA, on).empty());
  EXPECT_EQ(cores.demand(kA, on, 0.8), 0);
}

TEST(SharedCores, DemandIsTheUtilisationOfTheOthersProcessesOnTheBusiestCore) {
  SharedCores cores;
  const Allocation a = on_cores({{0, 1}, {1, 1}, {2, 1}});
  const Allocation b = on_cores({{1, 1}});
  const Allocation c = on_cores({{2, 3}});
  cores.enter(kA, a, 0.5);
  cores.enter(kB, b, 0.9);
  EXPECT_DOUBLE_EQ(cores.demand(kA, a, 0.5), 0.9);
  EXPECT_DOUBLE_EQ(cores.demand(kB, b, 0.9), 0.5);
  cores.enter(kC, c, 0.4);
  EXPECT_DOUBLE_EQ(cores.demand(kA, a, 0.5), 3 * 0.4) << "three processes on core 2";
  EXPECT_EQ(cores.neighbours(kA, a), (std::vector<JobId>{kB, kC}));
  cores.leave(kC, c);
  EXPECT_DOUBLE_EQ(cores.demand(kA, a, 0.5), 0.9);
  EXPECT_EQ(cores.neighbours(kA, a), std::vector<JobId>{kB});
}

TEST(SharedCores, ANeighbourOnTheJobsEmptierCoreCountsByWhatItAddsToTheBusiest) {
  // A has 2 processes on core 0 and 1 on core 1: loads 1.2 and 0.6 without B.
  SharedCores cores;
  const Allocation a = on_cores({{0, 2}, {1, 1}});
  const Allocation b = on_cores({{1, 1}});
  cores.enter(kA, a, 0.6);
  cores.enter(kB, b, 0.5);
  EXPECT_EQ(cores.demand(kA, a, 0.6), 0) << "1.1 on core 1 is less than 1.2 on core 0";
  cores.leave(kB, b);
  cores.enter(kB, b, 0.9);
  EXPECT_NEAR(cores.demand(kA, a, 0.6), 1.5 - 1.2, 1e-12);
}

TEST(SharedCores, LeavingCoresThatOneIsNotOnChangesNothing) {
  SharedCores cores;
  const Allocation a = on_cores({{0, 1}});
  cores.enter(kA, a, 1);
  cores.leave(kB, on_cores({{0, 1}, {7, 1}}));
  EXPECT_EQ(cores.neighbours(kB, a), std::vector<JobId>{kA});
}

TEST(SharedCoresDeath, AThirdJobOnACoreStopsTheProgram) {
  SharedCores cores;
  cores.enter(kA, on_cores({{0, 1}}), 1);
  cores.enter(kB, on_cores({{0, 1}}), 1);
  EXPECT_DEATH(cores.enter(kC, on_cores({{0, 1}}), 1), "job 3 is the third on core 0");
}

}  // namespace
}  // namespace replay
