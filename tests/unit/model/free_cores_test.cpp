#include "scheduler/model/free_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/model/core_loads.hpp"

namespace replay {
namespace {

using test::core_loads;
using test::OnCore;

Allocation on(const std::vector<OnCore>& loads) {
  Allocation allocation;
  allocation.cores = static_cast<CoreCount>(loads.size());
  for (const OnCore& load : loads) allocation.mpl = std::max<int>(allocation.mpl, load.processes);
  allocation.named = core_loads(loads);
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
  EXPECT_EQ(free.place(2, 1)->named, core_loads({{2, 1}, {3, 1}}));
  EXPECT_EQ(free.place(5, 1)->named, core_loads({{2, 1}, {3, 1}, {4, 1}, {5, 1}, {1, 1}}));
}

TEST(FreeCoresOfNodes, NeverPutMoreProcessesOnANodeThanItHasCores) {
  const Machine machine = Machine::cluster(2, 1, 2);
  FreeCores free{machine};
  const auto four = free.place(4, 2);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->named, core_loads({{0, 2}, {2, 2}})) << "all four on one node could not be expanded there";
  free.take(*four);
  EXPECT_EQ(free.at_level(*four, 4, 1)->named, core_loads({{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
}

TEST(FreeCoresOfNodes, ShrinkPerNode) {
  const Machine machine = Machine::cluster(2, 1, 4);
  FreeCores free{machine};
  const auto five = free.place(5, 1);
  ASSERT_TRUE(five);
  free.take(*five);
  EXPECT_EQ(free.gain(*five, 5, 2), 2) << "4 and 1 processes need 2 and 1 cores";
  const auto shrunk = free.at_level(*five, 5, 2);
  EXPECT_EQ(shrunk->named, core_loads({{0, 2}, {1, 2}, {4, 1}}));
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
  EXPECT_EQ(free.place_like(on({{0, 2}, {3, 1}, {6, 1}}))->named, core_loads({{1, 2}, {2, 1}, {4, 1}}));
  EXPECT_FALSE(free.place_like(on({{0, 1}, {1, 1}, {2, 1}, {3, 1}}))) << "three are free on node 0";
}

// The number of cores on each node, in the order of the ranks: "4+4+3".
std::string per_node(const Allocation& allocation, const Machine& machine) {
  std::string text;
  for_each_node(allocation, machine, [&](const NodeShare& share) {
    text += (text.empty() ? "" : "+") + std::to_string(share.cores.size());
  });
  return text;
}

struct Levels {
  const char* machine;
  ProcessCount processes;
  std::vector<const char*> cores_at_level;  // from level 1 on
};

TEST(FreeCoresOfNodes, EveryLevelTakesWhatEachNodeNeeds) {
  for (const Levels& levels : {Levels{"8x2x2", 11, {"4+4+3", "2+2+2", "2+2+1", "1+1+1", "1+1+1"}},
                               Levels{"2x2x2", 7, {"4+3", "2+2", "2+1", "1+1", "1+1"}},
                               Levels{"4x1x3", 11, {"3+3+3+2", "2+2+2+1", "1+1+1+1", "1+1+1+1"}},
                               Levels{"2x1x8", 15, {"8+7", "4+4", "3+3", "2+2", "2+2", "2+2", "2+1", "1+1"}}}) {
    const Machine machine = Machine::parse(levels.machine);
    FreeCores free{machine};
    const auto expanded = free.place(levels.processes, 1);
    ASSERT_TRUE(expanded);
    for (int level = 1; level <= static_cast<int>(levels.cores_at_level.size()); ++level) {
      const char* expected = levels.cores_at_level[static_cast<std::size_t>(level - 1)];
      SCOPED_TRACE(testing::Message() << levels.machine << ", level " << level);
      EXPECT_EQ(per_node(*free.place(levels.processes, level), machine), expected) << "on an empty machine";
      free.take(*expanded);
      const auto shrunk = free.at_level(*expanded, levels.processes, level);
      EXPECT_EQ(per_node(*shrunk, machine), expected);
      EXPECT_EQ(free.gain(*expanded, levels.processes, level), expanded->cores - shrunk->cores);
      EXPECT_LE(shrunk->mpl, level);
      free.release(*expanded);
      free.take(*shrunk);
      EXPECT_EQ(per_node(*free.at_level(*shrunk, levels.processes, 1), machine), levels.cores_at_level[0]);
      free.release(*shrunk);
    }
  }
}

TEST(FreeCoresOfNodes, APartOfANodeTakesAsManyProcessesAsItsFreeCoresCarry) {
  // One core of each node is free: at level 4 it carries all four, at level 3 three.
  const Machine machine = Machine::cluster(3, 2, 2);
  FreeCores free{machine};
  for (const int first : {0, 4, 8}) free.take(on({{first, 1}, {first + 1, 1}, {first + 2, 1}}));
  EXPECT_EQ(free.place(11, 4)->named, core_loads({{3, 4}, {7, 4}, {11, 3}}));
  EXPECT_FALSE(free.place(11, 3)) << "room for nine";
  EXPECT_EQ(free.place(8, 3)->named, core_loads({{3, 3}, {7, 3}, {11, 2}}));
}

Allocation shared(const std::vector<OnCore>& loads) {
  Allocation allocation = on(loads);
  allocation.shareable = true;
  return allocation;
}

class SharedFreeCores : public testing::Test {
 protected:
  Machine machine_ = Machine::cluster(2, 1, 2);
  FreeCores free_{machine_};
};

TEST_F(SharedFreeCores, HaveRoomForOneMoreJobThatShares) {
  const Allocation first = shared({{0, 1}, {1, 1}});
  free_.take(first);
  EXPECT_EQ(free_.total(), 2);
  EXPECT_FALSE(free_.is_free(CoreId{0}));
  EXPECT_TRUE(free_.can_be_joined(CoreId{0}));
  EXPECT_TRUE(free_.has_room(shared({{1, 1}, {2, 1}})));
  EXPECT_FALSE(free_.has_room(on({{1, 1}}))) << "a job that wants its core for itself";
  const Allocation second = shared({{1, 2}});
  free_.take(second);
  EXPECT_EQ(free_.total(), 2) << "no job was driven off, nothing was taken that was free";
  EXPECT_FALSE(free_.has_room(shared({{1, 1}}))) << "two are on it";
  free_.release(first);
  EXPECT_EQ(free_.total(), 3);
  EXPECT_TRUE(free_.is_free(CoreId{0}));
  EXPECT_TRUE(free_.can_be_joined(CoreId{1})) << "the second is still there";
  free_.release(second);
  EXPECT_EQ(free_.total(), 4);
  EXPECT_EQ(free_.on_node(NodeId{0}), 2);
}

TEST_F(SharedFreeCores, NobodyJoinsAJobThatIsAlone) {
  free_.take(on({{0, 1}}));
  EXPECT_FALSE(free_.can_be_joined(CoreId{0}));
  EXPECT_FALSE(free_.has_room(shared({{0, 1}})));
}

TEST_F(SharedFreeCores, ASecondJobGoesBesideAFirstInItsOrder) {
  const Allocation first = shared({{2, 1}, {3, 1}, {0, 1}});
  free_.take(first);
  const auto second = free_.place_beside(first, 3, 1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->named, first.named);
  EXPECT_TRUE(second->shareable);
  EXPECT_EQ(free_.place_beside(first, 3, 2)->named, core_loads({{2, 2}, {0, 1}})) << "two to a node";
  EXPECT_FALSE(free_.place_beside(first, 4, 1));
  free_.take(shared({{3, 1}}));
  EXPECT_EQ(free_.place_beside(first, 2, 1)->named, core_loads({{2, 1}, {0, 1}}));
}

TEST_F(SharedFreeCores, ALevelOfAJobThatSharesIsShareableToo) {
  const Allocation held = shared({{0, 1}, {1, 1}});
  EXPECT_EQ(free_.place_like(held), held);
  free_.take(held);
  EXPECT_EQ(free_.at_level(held, 2, 2), shared({{0, 2}}));
  EXPECT_FALSE(free_.place_like(held)) << "it takes free cores only";
}

using FreeCoresDeath = testing::Test;
TEST(FreeCoresDeath, ACoreTakenTwiceStopsTheProgram) {
  const Machine machine = Machine::cluster(1, 1, 2);
  FreeCores free{machine};
  free.take(on({{0, 1}}));
  EXPECT_DEATH(free.take(on({{0, 1}})), "core 0 is taken twice");
}

TEST(FreeCoresDeath, AThirdJobOnACoreStopsTheProgram) {
  const Machine machine = Machine::cluster(1, 1, 2);
  FreeCores free{machine};
  free.take(shared({{0, 1}}));
  free.take(shared({{0, 1}}));
  EXPECT_DEATH(free.take(shared({{0, 1}})), "core 0 is taken by a third job");
}

TEST(FreeCoresDeath, AJobThatWasAloneIsNotReleasedAsOneThatShares) {
  const Machine machine = Machine::cluster(1, 1, 2);
  FreeCores free{machine};
  free.take(on({{0, 1}}));
  EXPECT_DEATH(free.release(shared({{0, 1}})), "core 0 is released by a job that shares");
  EXPECT_DEATH(free.take(shared({{0, 1}})), "core 0 is taken twice");
}

TEST(FreeCoresDeath, CoresOfAPoolAreNotShared) {
  const Machine machine = Machine::pool(2);
  FreeCores free{machine};
  EXPECT_DEATH(free.take({1, 1, {}, true}), "cores of a pool are to be shared");
}

TEST(FreeCoresOfNodes, GiveALargeNodeMoreProcessesThanASmallOne) {
  const Machine machine = Machine::parse("1x1x4+1x1x2");
  FreeCores free{machine};
  EXPECT_EQ(free.on_node(NodeId{1}), 2);
  const auto six = free.place(6, 2);
  ASSERT_TRUE(six);
  EXPECT_EQ(six->named, core_loads({{0, 2}, {1, 2}, {4, 2}})) << "four on node 0, two on node 1";
  free.take(*six);
  EXPECT_EQ(free.at_level(*six, 6, 1)->cores, 6);
  EXPECT_EQ(free.place(6, 4)->named, core_loads({{2, 4}, {5, 2}})) << "at most as many as each has cores";
  EXPECT_FALSE(free.place(7, 8));
}

// Cores of nodes as lists, and the rules of free_cores.hpp for a start, word by word.
struct PlainNodes {
  std::vector<std::vector<bool>> is_free;

  [[nodiscard]] std::vector<OnCore> place(int processes, int level) const {
    std::vector<int> free, first;
    int cores = 0;
    for (const auto& node : is_free) {
      first.push_back(cores);
      cores += static_cast<int>(node.size());
      free.push_back(static_cast<int>(std::count(node.begin(), node.end(), true)));
    }
    std::vector<OnCore> loads;
    std::vector<bool> is_done(is_free.size());
    while (processes > 0) {
      std::size_t most = is_free.size();
      for (std::size_t node = 0; node < is_free.size(); ++node)
        if (!is_done[node] && (most == is_free.size() || free[node] > free[most])) most = node;
      if (most == is_free.size()) return {};
      is_done[most] = true;
      const int here = std::min({processes, static_cast<int>(is_free[most].size()), free[most] * level});
      const int taken = (here + level - 1) / level;
      for (int core = 0, nth = 0; nth < taken; ++core) {
        if (!is_free[most][static_cast<std::size_t>(core)]) continue;
        loads.push_back({first[most] + core, here / taken + (nth < here % taken ? 1 : 0)});
        ++nth;
      }
      processes -= here;
    }
    return loads;
  }
};

TEST(FreeCoresOfNodes, ThatDifferGiveWhatAPlainSearchGives) {
  std::mt19937 random{1};
  const auto up_to = [&random](int most) { return std::uniform_int_distribution{1, most}(random); };
  int placed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<NodeGroup> groups;
    for (int group = up_to(4); group > 0; --group)
      groups.push_back({.nodes = up_to(3), .packages = up_to(2), .cores_per_package = up_to(4)});
    const Machine machine = Machine::of(groups);
    FreeCores free{machine};
    PlainNodes plain;
    for (const NodeGroup& group : groups)
      plain.is_free.insert(plain.is_free.end(), static_cast<std::size_t>(group.nodes),
                           std::vector<bool>(static_cast<std::size_t>(group.cores_per_node()), true));
    int core = 0;
    for (auto& node : plain.is_free)
      for (std::size_t i = 0; i < node.size(); ++i, ++core)
        if (up_to(3) == 1) {
          node[i] = false;
          free.take(on({{core, 1}}));
        }
    const int processes = up_to(machine.size()), level = up_to(4);
    const std::vector<OnCore> expected = plain.place(processes, level);
    const auto found = free.place(processes, level);
    ASSERT_EQ(found.has_value(), !expected.empty()) << machine.to_text() << ", round " << round;
    if (!found) continue;
    ++placed;
    ASSERT_EQ(found->named, core_loads(expected)) << machine.to_text() << ", round " << round;
  }
  EXPECT_GT(placed, 500);
}

}  // namespace
}  // namespace replay
