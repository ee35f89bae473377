// Tests of FCFS-malleable with a max_mpl above 2, on nodes of several cores: a job with p_node processes on a node has
// ceil(p_node / m) of its cores at level m, so the cores that a level frees are counted node by node.

#include <gtest/gtest.h>

#include <map>

#include "scheduler/policy/registry.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

// The decisions on one job, with its cores on each node in the order of the ranks: "start 4+4+3, resize 2+2+2".
std::string by_node(const MemoryLog& log, JobId job, const Machine& machine) {
  std::string text;
  const auto add = [&](const char* what, const Allocation& allocation) {
    text += (text.empty() ? "" : ", ") + std::string(what);
    char before = ' ';
    for_each_node(allocation, machine, [&](const NodeShare& share) {
      text += before + std::to_string(share.cores.size());
      before = '+';
    });
  };
  for (const log::Record& record : log.records()) {
    if (const auto* start = std::get_if<log::StartDecided>(&record.what); start != nullptr && start->job == job)
      add("start", start->allocation);
    if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what); resize != nullptr && resize->job == job)
      add("resize", resize->allocation);
  }
  return text;
}

struct Scene {
  Machine machine;
  MemoryLog log;
  [[nodiscard]] std::string of(char job) const { return by_node(log, id(job), machine); }
};

Scene play(const char* policy, const char* machine, std::vector<TracedJob> jobs) {
  Scene scene{Machine::parse(machine), {}};
  scene.log = simulate(policy, scene.machine, std::move(jobs));
  EXPECT_EQ(what_is_wrong(scene.log, scene.machine), "");
  return scene;
}

TEST(FcfsMalleableLevels, AJobIsShrunkAndExpandedNodeByNode) {
  // A's 11 processes are on the nodes as 4, 4 and 3. B needs 9 cores: at level 2 A leaves 2, 2 and 2 of its nodes' 4,
  // and B's 9 processes go there as 4, 4 and 1 at level 2.
  const Scene scene = play("fcfs-malleable:max_mpl=4", "3x2x2",
                           {job('A').cores(11).runs(10min), job('B').cores(9).arrives(1min).runs(2min)});
  EXPECT_EQ(scene.of('A'), "start 4+4+3, resize 2+2+2, resize 4+4+3");
  EXPECT_EQ(scene.of('B'), "start 2+2+1");
  EXPECT_EQ(scene.log.end(id('B')), at(5min)) << "at half speed";
  EXPECT_EQ(scene.log.end(id('A')), at(12min)) << "it lost two of four minutes";
}

TEST(FcfsMalleableLevels, AtLevelFourElevenProcessesLeaveThreeCoresToEachNode) {
  // Rigid jobs need their cores: B six, then C three more. Level 3 frees one core, level 4 the rest.
  const Scene scene = play("fcfs-malleable:max_mpl=4", "3x2x2",
                           {job('A').cores(11).runs(20min), job('B').cores(6).arrives(1min).runs(10min).rigid(),
                            job('C').cores(3).arrives(2min).runs(10min).rigid()});
  EXPECT_EQ(scene.of('A'), "start 4+4+3, resize 2+2+2, resize 1+1+1, resize 2+2+2, resize 4+4+3");
  EXPECT_EQ(scene.of('B'), "start 2+2+2");
  EXPECT_EQ(scene.of('C'), "start 1+1+1");
  // A: 1 min; 1 min at 1/2; 9 min at 1/4 until B ends; then level 2 for the minute until C ends; 20 min of work in all.
  EXPECT_EQ(scene.log.end(id('A')), at(12min + 15min + 45s));
}

TEST(FcfsMalleableLevels, ALevelThatFreesNothingOnANodeIsPassedOver) {
  // Four processes on a node have two cores at level 2 and at level 3: B's second core per node comes with level 4.
  const Scene scene = play("fcfs-malleable:max_mpl=4", "8x2x2",
                           {job('A').cores(32).runs(60min), job('B').cores(30).arrives(1min).runs(60min),
                            job('C').cores(16).arrives(2min).runs(1min)});
  EXPECT_EQ(scene.of('B').substr(0, 21), "start 2+2+2+2+2+2+2+1");
  EXPECT_EQ(scene.of('A').substr(0, 61), "start 4+4+4+4+4+4+4+4, resize 2+2+2+2+2+2+2+2, resize 1+1+1+1")
      << "B has nothing to give at level 3, nor has A; at level 4 A gives a core of each node";
  EXPECT_EQ(scene.log.start(id('C')), at(2min));
  EXPECT_EQ(scene.of('C').substr(0, 19), "start 2+1+1+1+1+1+1") << "node 7 has two free, the others one: level 2";
}

TEST(FcfsMalleableLevels, TheHeadGoesOneLevelDeeperBeforeAnotherVictimDoes) {
  // At level 2 A leaves one core to each node of three. B fits there at level 3, so A is not shrunk further.
  const Scene scene = play("fcfs-malleable:max_mpl=3", "4x1x3",
                           {job('A').cores(12).runs(20min), job('B').cores(11).arrives(1min).runs(2min)});
  EXPECT_EQ(scene.of('A'), "start 3+3+3+3, resize 2+2+2+2, resize 3+3+3+3");
  EXPECT_EQ(scene.of('B'), "start 1+1+1+1");
  EXPECT_EQ(scene.log.end(id('B')), at(7min));
}

TEST(FcfsMalleableLevels, TheHeadFitsAtItsDeepestLevelAlsoWhenNobodyHasMoreToGive) {
  // A's two processes share a core from level 2 on. B's three fit on the other core at level 3 only.
  const Scene scene = play("fcfs-malleable:max_mpl=3", "1x1x3",
                           {job('A').cores(2).runs(10min), job('B').cores(1).runs(10min).rigid(),
                            job('C').cores(3).arrives(1min).runs(1min)});
  EXPECT_EQ(scene.log.start(id('C')), at(1min));
  EXPECT_EQ(scene.of('A'), "start 2, resize 1, resize 2");
  EXPECT_EQ(scene.of('C'), "start 1");
}

TEST(FcfsMalleableLevels, ExpandsLevelByLevelAsCoresComeFree) {
  // Eight cores of one node; at level 4 A has two. B, C and D end one after the other, and A takes the cores for the
  // next level: 3 (level 3), 4 (level 2), 8.
  const Scene scene =
      play("fcfs-malleable:max_mpl=4", "1x1x8",
           {job('A').cores(8).runs(60min), job('B').cores(1).arrives(1min).runs(1min),
            job('C').cores(1).arrives(1min).runs(2min), job('D').cores(4).arrives(1min).runs(3min).rigid()});
  EXPECT_EQ(scene.of('A'), "start 8, resize 2, resize 3, resize 4, resize 8");
}

TEST(FcfsMalleableLevels, AllOrNothingToTheNextLevelOnAllNodes) {
  // C keeps one core of node 0: A cannot have level 1 there, and does not take the free cores of node 1 alone.
  const Scene scene = play("fcfs-malleable:max_mpl=3", "2x1x4",
                           {job('A').cores(8).runs(20min), job('B').cores(4).arrives(1min).runs(1min).rigid(),
                            job('C').cores(1).arrives(2min).runs(5min)});
  EXPECT_EQ(scene.of('A'), "start 4+4, resize 2+2, resize 4+4");
}

// Random workloads: checked on each node, at each time.
class Levels : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Levels, EveryJobCanBeExpandedWhereItIsAndNoCoreHasMoreThanMaxMplOfItsProcesses) {
  const auto [machine_text, policy] = GetParam();
  const Machine machine = Machine::parse(machine_text);
  const int max_mpl = policy[std::string_view{policy}.find('=') + 1] - '0';
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto log = simulate(policy, machine, random_jobs(seed, 150, machine.size()), "utrera");
    ASSERT_EQ(what_is_wrong(log, machine), "") << seed;  // processes keep their nodes, too
    const auto check = [&](const Allocation& allocation) {
      for (const CoreLoad& load : allocation.named) ASSERT_LE(load.processes, max_mpl);
      for_each_node(allocation, machine, [&](const NodeShare& share) {
        ASSERT_LE(share.processes, processes_at(machine.cores_of(share.node).size(), 1));
        ASSERT_EQ(static_cast<CoreCount>(share.cores.size()), cores_at(share.processes, allocation.mpl));
      });
    };
    for (const log::Record& record : log.records()) {
      if (const auto* launch = std::get_if<log::Launched>(&record.what)) check(launch->allocation);
      if (const auto* resize = std::get_if<log::ResizeDone>(&record.what)) check(resize->allocation);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Levels,
                         testing::Combine(testing::Values("2x2x2", "4x1x3", "8x2x2"),
                                          testing::Values("fcfs-malleable:max_mpl=3", "fcfs-malleable:max_mpl=4",
                                                          "fcfs-malleable:max_mpl=8",
                                                          "fcfs-malleable:max_mpl=4:expand=eager",
                                                          "fcfs-malleable:max_mpl=3:criterion=shortest")),
                         [](const auto& one) {
                           std::string name = std::string(std::get<0>(one.param)) + "_" + std::get<1>(one.param);
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace replay::test
