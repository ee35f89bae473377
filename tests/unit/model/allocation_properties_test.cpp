// Properties of ranks and nodes: for any machine, job, levels and pairing, shrinking and expanding never moves a rank
// to another node.

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "scheduler/model/free_cores.hpp"
#include "tests/support/properties.hpp"

namespace replay::test {
namespace {

std::vector<NodeId> node_of_ranks(const Allocation& allocation, const Machine& machine, Pairing pairing) {
  std::vector<NodeId> nodes;
  for (const CoreId core : core_of_ranks(allocation, machine, pairing)) nodes.push_back(machine.node_of(core));
  return nodes;
}

// A machine with some cores taken, and a job that has been placed there.
struct Placed {
  std::unique_ptr<const Machine> owned;  // at a stable address: `free` refers to it
  const Machine& machine;
  FreeCores free;
  ProcessCount processes;
  Allocation held;
};

Placed any_placed() {
  auto owned = std::make_unique<const Machine>(Machine::parse(*any_machine()));
  const Machine& machine = *owned;
  Placed placed{std::move(owned), machine, FreeCores{machine}, 0, {}};
  for (const CoreId core : machine.cores())  // core 0 stays free
    if (core != CoreId{0} && *rc::gen::inRange(0, 4) == 0) placed.free.take({1, 1, {{core, 1}}});
  ProcessCount most = 0;  // a node with a free core carries as many processes as it has cores
  for (int node = 0; node < machine.nodes(); ++node)
    if (placed.free.on_node(NodeId{node}) > 0) most += processes_at(machine.cores_of(NodeId{node}).size(), 1);
  placed.processes = *rc::gen::inRange<int>(1, most + 1);
  for (int level = *rc::gen::inRange(1, 5); placed.held.cores == 0; ++level)
    if (auto place = placed.free.place(placed.processes, level)) placed.held = std::move(*place);
  placed.free.take(placed.held);
  return placed;
}

const auto any_pairing = [] { return rc::gen::element(Pairing::kBlock, Pairing::kCyclic); };

TEST(RankProperties, EveryLevelAndPairingGivesEachNodeTheSameRanks) {
  EXPECT_TRUE(rc::check([] {
    Placed placed = any_placed();
    const auto before = node_of_ranks(placed.held, placed.machine, Pairing::kBlock);
    for (int step = 0; step < 6; ++step) {
      const auto to = placed.free.at_level(placed.held, placed.processes, *rc::gen::inRange(1, 9));
      if (!to) continue;
      RC_ASSERT(flaw_of(*to, placed.machine) == std::string_view{});
      RC_ASSERT(ranks_keep_their_nodes(placed.held, *to, placed.machine));
      RC_ASSERT(node_of_ranks(*to, placed.machine, *any_pairing()) == before);
      placed.free.release(placed.held);
      placed.free.take(*to);
      placed.held = *to;
    }
  }));
}

TEST(RankProperties, EachCoreHasAsManyRanksAsTheAllocationSays) {
  EXPECT_TRUE(rc::check([] {
    const Placed placed = any_placed();
    std::map<CoreId, ProcessCount> said;
    for (const CoreLoad& load : placed.held.named) said[load.core] = load.processes;
    std::map<CoreId, ProcessCount> ranks;
    for (const CoreId core : core_of_ranks(placed.held, placed.machine, *any_pairing())) ++ranks[core];
    RC_ASSERT(ranks == said);
  }));
}

TEST(RankProperties, ALevelHasAsManyCoresAsItsNodesNeedAndGivesBackTheRest) {
  EXPECT_TRUE(rc::check([] {
    const Placed placed = any_placed();
    const int level = *rc::gen::inRange(1, 9);
    CoreCount needed = 0;
    for_each_node(placed.held, placed.machine,
                  [&](const NodeShare& share) { needed += number(share.processes + level - 1) / level; });
    RC_ASSERT(placed.free.gain(placed.held, placed.processes, level) == placed.held.cores - needed);
    const auto to = placed.free.at_level(placed.held, placed.processes, level);
    if (!to) return;
    RC_ASSERT(to->cores == needed);
    RC_ASSERT(to->mpl <= level);
  }));
}

TEST(RankProperties, AJobAloneOnItsNodesCanBeExpanded) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = Machine::parse(*any_machine());
    FreeCores free{machine};
    const ProcessCount processes = *rc::gen::inRange<int>(1, machine.size() + 1);
    const auto shrunk = free.place(processes, *rc::gen::inRange(1, 9));
    RC_ASSERT(shrunk.has_value());
    free.take(*shrunk);
    const auto expanded = free.at_level(*shrunk, processes, 1);
    RC_ASSERT(expanded.has_value());
    RC_ASSERT(expanded->cores == cores_at(processes, 1));
  }));
}

}  // namespace
}  // namespace replay::test
