#include "scheduler/model/allocation.hpp"

#include <gtest/gtest.h>

#include "tests/unit/model/core_loads.hpp"

namespace replay {
namespace {

using test::core_ids;
using test::core_loads;

std::vector<CoreId> ranks(const Allocation& allocation, Pairing pairing) {
  return core_of_ranks(allocation, Machine::cluster(2, 2, 2), pairing);
}

TEST(Allocations, SayTheirCoresAsRanges) {
  const Allocation allocation{6, 1, core_loads({{7, 1}, {0, 1}, {1, 1}, {2, 1}, {10, 1}, {11, 1}})};
  EXPECT_EQ(cores_text(allocation), "0-2,7,10-11");
  EXPECT_EQ(cores_text(allocation, ' '), "0-2 7 10-11");
}

TEST(CoreLoads, ACopyIsACopy) {
  const CoreLoads none;
  CoreLoads loads = core_loads({{3, 1}, {5, 2}});
  CoreLoads copy = loads;
  EXPECT_EQ(copy, loads);
  copy.push_back({CoreId{6}, 1});
  copy.begin()->processes = 4;
  EXPECT_EQ(loads, core_loads({{3, 1}, {5, 2}}));
  EXPECT_EQ(copy, core_loads({{3, 4}, {5, 2}, {6, 1}}));
  loads = none;
  EXPECT_TRUE(loads.empty());
  EXPECT_EQ(loads, none);
  EXPECT_EQ(loads, CoreLoads(std::vector<CoreLoad>{}));
  loads.append(copy);
  EXPECT_EQ(loads, copy);
  CoreLoads& same = loads;
  loads = same;
  EXPECT_EQ(loads, copy);
}

TEST(PairingOfRanks, BlockPutsNeighboursOnOneCore) {
  EXPECT_EQ(ranks({2, 2, core_loads({{4, 2}, {5, 1}})}, Pairing::kBlock), core_ids({4, 4, 5}));
  EXPECT_EQ(ranks({3, 2, core_loads({{4, 2}, {5, 2}, {0, 2}})}, Pairing::kBlock), core_ids({4, 4, 5, 5, 0, 0}));
}

TEST(PairingOfRanks, CyclicDealsEachNodesRanksOutInTurn) {
  EXPECT_EQ(ranks({2, 2, core_loads({{4, 2}, {5, 2}})}, Pairing::kCyclic), core_ids({4, 5, 4, 5}));
  EXPECT_EQ(ranks({4, 2, core_loads({{4, 2}, {6, 2}, {0, 2}, {1, 2}})}, Pairing::kCyclic),
            core_ids({4, 6, 4, 6, 0, 1, 0, 1}))
      << "ranks 0 to 3 are on the node that is listed first";
}

TEST(PairingOfRanks, CyclicGivesACoreAsManyRanksAsTheAllocationSays) {
  EXPECT_EQ(ranks({3, 3, core_loads({{0, 1}, {1, 3}, {2, 2}})}, Pairing::kCyclic), core_ids({0, 1, 2, 1, 2, 1}));
}

TEST(PairingOfRanks, ExpandedBothAreTheSame) {
  const Allocation expanded{4, 1, core_loads({{4, 1}, {5, 1}, {0, 1}, {1, 1}})};
  EXPECT_EQ(ranks(expanded, Pairing::kBlock), ranks(expanded, Pairing::kCyclic));
}

TEST(RanksKeepTheirNodes, WhereEachNodeHasAsManyProcessesInTheSameOrder) {
  const Machine machine = Machine::cluster(2, 2, 2);
  const Allocation before{3, 1, core_loads({{4, 1}, {5, 1}, {0, 1}})};
  EXPECT_TRUE(ranks_keep_their_nodes(before, {2, 2, core_loads({{6, 2}, {3, 1}})}, machine));
  EXPECT_FALSE(ranks_keep_their_nodes(before, {2, 2, core_loads({{4, 1}, {0, 2}})}, machine)) << "one has moved";
  EXPECT_FALSE(ranks_keep_their_nodes(before, {3, 1, core_loads({{0, 1}, {4, 1}, {5, 1}})}, machine))
      << "rank 0 has moved";
  EXPECT_FALSE(ranks_keep_their_nodes(before, {1, 2, core_loads({{4, 2}})}, machine)) << "rank 2 is gone";
  EXPECT_TRUE(ranks_keep_their_nodes({4, 1, {}}, {2, 2, {}}, Machine::pool(4)));
}

TEST(Flaws, OfAnAllocationAreNamed) {
  const Machine machine = Machine::cluster(2, 1, 2);
  EXPECT_EQ(flaw_of({3, 2, core_loads({{0, 2}, {2, 1}, {3, 1}})}, machine), "");
  EXPECT_EQ(flaw_of({0, 1, {}}, machine), "it has no cores");
  EXPECT_EQ(flaw_of({1, 0, core_loads({{0, 1}})}, machine), "its multiprogramming level is below 1");
  EXPECT_EQ(flaw_of({2, 1, core_loads({{0, 1}})}, machine), "it does not name as many cores as it has");
  EXPECT_EQ(flaw_of({1, 1, core_loads({{4, 1}})}, machine), "it names a core that does not exist");
  EXPECT_EQ(flaw_of({1, 1, core_loads({{-1, 1}})}, machine), "it names a core that does not exist");
  EXPECT_EQ(flaw_of({1, 1, core_loads({{0, 0}})}, machine), "it names a core without a process");
  EXPECT_EQ(flaw_of({2, 1, core_loads({{0, 2}, {1, 1}})}, machine),
            "its multiprogramming level is not that of its fullest core");
  EXPECT_EQ(flaw_of({2, 1, core_loads({{0, 1}, {0, 1}})}, machine), "it names a core twice");
  EXPECT_EQ(flaw_of({3, 1, core_loads({{0, 1}, {2, 1}, {1, 1}})}, machine), "it does not list its cores node by node");
}

TEST(Flaws, OfAPoolAreNamesAndSharing) {
  const Machine pool = Machine::pool(4);
  EXPECT_EQ(flaw_of({2, 2, {}}, pool), "");
  EXPECT_EQ(flaw_of({1, 1, core_loads({{0, 1}})}, pool), "it names cores of a pool");
  EXPECT_EQ(flaw_of({1, 1, {}, true}, pool), "cores of a pool cannot be shared");
}

}  // namespace
}  // namespace replay
