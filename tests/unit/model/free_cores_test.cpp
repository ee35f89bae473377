#include "scheduler/model/free_cores.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

Allocation on(std::vector<CoreLoad> loads) {
  Allocation allocation;
  allocation.cores = static_cast<CoreCount>(loads.size());
  for (const CoreLoad& load : loads) allocation.mpl = std::max(allocation.mpl, load.processes);
  allocation.named = std::move(loads);
  return allocation;
}

TEST(FreeCoresOfAPool, AreACount) {
  const Machine machine = Machine::pool(10);
  FreeCores free{machine};
  const auto eight = free.place(8, 1);
  ASSERT_TRUE(eight);
  free.take(*eight);
  EXPECT_EQ(free.total(), 2);
  EXPECT_FALSE(free.place(5, 2)) << "3 cores are needed";
  EXPECT_EQ(free.place(4, 2)->cores, 2);
  EXPECT_EQ(free.at_level(*eight, 8, 2)->cores, 4);
  EXPECT_EQ(free.gain(*eight, 8, 2), 4);
}

TEST(FreeCoresOfAPool, TellTheLevelThatCameOut) {
  const Machine machine = Machine::pool(10);
  EXPECT_EQ(FreeCores{machine}.place(5, 4)->mpl, 3) << "5 processes on 2 cores lie 3 and 2";
}

TEST(FreeCoresOfNodes, GoToTheNodeWithMostFreeCoresFirst) {
  const Machine machine = Machine::cluster(3, 1, 2);
  FreeCores free{machine};
  free.take(on({{0, 1}}));
  EXPECT_EQ(free.place(2, 1)->named, (std::vector<CoreLoad>{{2, 1}, {3, 1}}));
  EXPECT_EQ(free.place(5, 1)->named, (std::vector<CoreLoad>{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {1, 1}}));
}

TEST(FreeCoresOfNodes, NeverPutMoreProcessesOnANodeThanItHasCores) {
  const Machine machine = Machine::cluster(2, 1, 2);
  FreeCores free{machine};
  const auto four = free.place(4, 2);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->named, (std::vector<CoreLoad>{{0, 2}, {2, 2}})) << "all four on one node could not be expanded there";
  free.take(*four);
  EXPECT_EQ(free.at_level(*four, 4, 1)->named, (std::vector<CoreLoad>{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(FreeCoresOfNodes, ShrinkPerNode) {
  const Machine machine = Machine::cluster(2, 1, 4);
  FreeCores free{machine};
  const auto five = free.place(5, 1);
  ASSERT_TRUE(five);
  free.take(*five);
  EXPECT_EQ(free.gain(*five, 5, 2), 2) << "4 and 1 processes need 2 and 1 cores";
  const auto shrunk = free.at_level(*five, 5, 2);
  EXPECT_EQ(shrunk->named, (std::vector<CoreLoad>{{0, 2}, {1, 2}, {4, 1}}));
  EXPECT_EQ(shrunk->mpl, 2);
}

TEST(FreeCoresOfNodes, ExpandAllOrNothing) {
  const Machine machine = Machine::cluster(1, 1, 4);
  FreeCores free{machine};
  const Allocation shrunk = on({{0, 2}, {1, 2}});
  free.take(shrunk);
  free.take(on({{2, 1}}));
  EXPECT_FALSE(free.at_level(shrunk, 4, 1)) << "only core 3 is free, two are needed";
}

TEST(FreeCoresOfNodes, NameTheCoresOfAShapeAsTheyAreFree) {
  const Machine machine = Machine::cluster(2, 1, 4);
  FreeCores free{machine};
  free.take(on({{0, 1}, {5, 1}}));
  EXPECT_EQ(free.place_like(on({{0, 2}, {3, 1}, {6, 1}}))->named, (std::vector<CoreLoad>{{1, 2}, {2, 1}, {4, 1}}));
  EXPECT_FALSE(free.place_like(on({{0, 1}, {1, 1}, {2, 1}, {3, 1}}))) << "three are free on node 0";
}

using FreeCoresDeath = testing::Test;
TEST(FreeCoresDeath, ACoreTakenTwiceStopsTheProgram) {
  const Machine machine = Machine::cluster(1, 1, 2);
  FreeCores free{machine};
  free.take(on({{0, 1}}));
  EXPECT_DEATH(free.take(on({{0, 1}})), "core 0 is taken twice");
}

}  // namespace
}  // namespace replay
