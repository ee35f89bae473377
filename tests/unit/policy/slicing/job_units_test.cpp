// Units of jobs and whole nodes: on two nodes of four cores, and on a pool.
#include "scheduler/policy/slicing/job_units.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "scheduler/model/machine.hpp"

namespace replay::test {
namespace {

const Machine kNodes = Machine::cluster(4, 2, 2);
using Units = std::vector<std::vector<std::size_t>>;

Allocation on(std::initializer_list<int> cores) {
  Allocation allocation;
  for (const int core : cores) allocation.named.push_back({static_cast<CoreId>(core), 1});
  allocation.cores = static_cast<CoreCount>(cores.size());
  return allocation;
}

Units units(const std::vector<Allocation>& allocations, const Machine& machine) {
  std::vector<const Allocation*> pointers;
  for (const Allocation& allocation : allocations) pointers.push_back(&allocation);
  return units_of(pointers, machine);
}

TEST(JobUnits, JoinWhatHasANodeInCommonThroughOtherJobsToo) {
  EXPECT_EQ(units({on({0, 1}), on({8}), on({4}), on({2, 6})}, kNodes), (Units{{0, 2, 3}, {1}}));
  EXPECT_EQ(units({on({0}), on({4}), on({5, 8}), on({1, 9}), on({12})}, kNodes), (Units{{0, 1, 2, 3}, {4}}));
}

TEST(JobUnits, AreSingleJobsOnAPool) {
  EXPECT_EQ(units({{3, 1, {}}, {2, 1, {}}}, Machine::pool(8)), (Units{{0}, {1}}));
}

TEST(WholeNodes, AreAllCoresOfTheNodesEachOnce) {
  const Allocation one = on({9, 1}), other = on({2});
  const std::vector<const Allocation*> both{&one, &other};
  EXPECT_EQ(cores_text(whole_nodes(both, kNodes)), "0-3,8-11");
  const Allocation three{3, 1, {}}, two{2, 1, {}};
  const std::vector<const Allocation*> counts{&three, &two};
  EXPECT_EQ(whole_nodes(counts, Machine::pool(8)).cores, 5);
}

TEST(WholeNodes, HaveTheirOwnSizes) {
  const Machine machine = Machine::parse("1x2x2+2x1x1+1x1x3");
  const Allocation one = on({5}), other = on({7});
  const std::vector<const Allocation*> both{&one, &other};
  const Allocation whole = whole_nodes(both, machine);
  EXPECT_EQ(cores_text(whole), "5-8");
  EXPECT_EQ(whole.cores, 4);
  FreeCores free{machine};
  free.take(on({0, 1, 2, 5, 6}));
  EXPECT_TRUE(has_free_node(free, machine)) << "node 1, of one core";
  free.take(on({4}));
  EXPECT_FALSE(has_free_node(free, machine)) << "3 cores are free, no node";
  EXPECT_EQ(free_in_both(FreeCores{machine}, free, machine).total(), 0);
}

TEST(WholeNodes, AreFreeInBothWhereNoCoreOfThemIsTakenInEither) {
  FreeCores one{kNodes}, other{kNodes};
  one.take(on({0}));
  other.take(on({0, 5}));
  const FreeCores both = free_in_both(one, other, kNodes);
  EXPECT_EQ(both.total(), 8);
  EXPECT_TRUE(both.has_room(on({8, 9, 10, 11, 12, 13, 14, 15})));
  EXPECT_TRUE(has_free_node(both, kNodes));
  one.take(on({4, 8, 12}));
  EXPECT_FALSE(has_free_node(one, kNodes)) << "twelve cores are free, but no node";
  const Machine pool = Machine::pool(8);
  FreeCores five{pool}, three{pool};
  five.take({3, 1, {}});
  three.take({5, 1, {}});
  EXPECT_EQ(free_in_both(five, three, pool).total(), 3);
  EXPECT_EQ(free_in_both(three, five, pool).total(), 3);
  EXPECT_TRUE(has_free_node(FreeCores{pool}, pool));
}

}  // namespace
}  // namespace replay::test
