// What happens to jobs and plans when nodes are closed and opened: docs/formats/nodes-csv.md.
#include <gtest/gtest.h>

#include <array>

#include "scheduler/sim/simulator.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

const Machine kTwoNodes = Machine::cluster(2, 1, 2);

NodeEvent event(Duration when, std::int32_t node, NodeState state, Instant until = kNever) {
  return {at(when), {NodeId{node}, state, until, "the fan", ""}};
}

MemoryLog simulate_with(std::vector<NodeEvent> nodes, std::string_view policy, const std::vector<TracedJob>& jobs,
                        bool requeues_lost = false) {
  SimulationOptions options;
  options.nodes = std::move(nodes);
  options.requeues_lost = requeues_lost;
  return simulate(policy, kTwoNodes, jobs, "isolated", options);
}

TEST(NodeEvents, OnADrainedNodeJobsRunOnAndNoneStarts) {
  const auto log = simulate_with({event(1min, 0, NodeState::kDrained, at(20min))}, "fcfs",
                                 {job('A').cores(2).runs(10min).rigid(), job('B').cores(2).runs(30min).rigid(),
                                  job('C').cores(2).runs(1min).rigid()});
  EXPECT_EQ(log.end(id('A')), at(10min)) << "on node 0";
  EXPECT_EQ(log.start(id('C')), at(20min)) << "node 0 is free from 10 min on, and up again then";
}

TEST(NodeEvents, ANodeThatGoesDownTakesItsJobsWithIt) {
  const auto log = simulate_with({event(1min, 1, NodeState::kDown)}, "easy",
                                 {job('A').cores(1).runs(10min).rigid(), job('B').cores(3).runs(10min).rigid(),
                                  job('C').cores(2).runs(1min).rigid()});
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(log.outcome(id('B')), Outcome::kLost) << "on both nodes";
  EXPECT_EQ(log.end(id('B')), at(1min));
  EXPECT_EQ(log.start(id('C')), at(10min)) << "B has left one core of node 0, A the other";
}

TEST(NodeEvents, ALostJobThatIsRequeuedHasItsOldPlaceAndRunsWhole) {
  const auto log = simulate_with({event(5min, 0, NodeState::kDown, at(6min))}, "fcfs",
                                 {job('A').cores(4).runs(10min).rigid(), job('B').cores(4).runs(1min).rigid()}, true);
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(log.end(id('A')), at(16min));
  EXPECT_EQ(log.start(id('B')), at(16min));
}

TEST(NodeEvents, OneThatEndsWhenItsNodeGoesDownIsLost) {
  const auto log = simulate_with({event(10min, 0, NodeState::kDown)}, "fcfs", {job('A').cores(4).runs(10min).rigid()});
  EXPECT_EQ(log.outcome(id('A')), Outcome::kLost);
}

TEST(NodeEvents, AJobTooWideForWhatIsLeftHoldsBackNoOther) {
  // B needs both nodes. Until 30 min it is not known that node 1 comes back.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(1min).rigid(),
                                    job('B').cores(4).arrives(1s).runs(1min).rigid(),
                                    job('C').cores(2).arrives(2s).runs(2min).rigid()};
  const auto closed = event(0s, 1, NodeState::kDown);
  for (const char* policy : {"fcfs", "easy", "conservative", "plan", "dynp", "slack", "fcfs-malleable:max_mpl=1"}) {
    const auto back = simulate_with({closed, event(30min, 1, NodeState::kUp)}, policy, jobs);
    EXPECT_EQ(back.start(id('C')), at(1min)) << policy;
    EXPECT_EQ(back.start(id('B')), at(30min)) << policy;
    const auto gone = simulate_with({closed}, policy, jobs);
    EXPECT_EQ(gone.start(id('B')), kNever) << policy;
    EXPECT_EQ(gone.outcome(id('B')), Outcome::kCancelled) << policy;
    EXPECT_EQ(gone.end(id('B')), at(3min)) << policy;
  }
}

TEST(NodeEvents, PlansHaveTheNodesThatAreKnownToComeBack) {
  // B is to start on both nodes at 30 min, so C, which is longer, waits, and D does not.
  const std::vector<TracedJob> jobs{
      job('A').cores(2).runs(1min).rigid(), job('B').cores(4).arrives(1s).runs(1min).rigid(),
      job('C').cores(1).arrives(2s).runs(40min).rigid(), job('D').cores(1).arrives(3s).runs(20min).rigid()};
  for (const char* policy : {"easy", "conservative", "plan", "slack:sf=0", "easy-malleable:max_mpl=1"}) {
    const auto log = simulate_with({event(0s, 1, NodeState::kReserved, at(30min))}, policy, jobs);
    EXPECT_EQ(log.start(id('B')), at(30min)) << policy;
    EXPECT_EQ(log.start(id('C')), at(31min)) << policy;
    EXPECT_EQ(log.start(id('D')), at(1min)) << policy;
  }
}

TEST(NodeEvents, CoresOfADrainedNodeAreNotPlannedWithWhenTheirJobEnds) {
  // Node 0 is drained while A runs on it to 10 min. B waits for the whole machine at 30 min: C may run until then.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(10min).rigid(),
                                    job('B').cores(4).arrives(2min).runs(1min).rigid(),
                                    job('C').cores(2).arrives(3min).runs(25min).rigid()};
  for (const char* policy : {"easy", "conservative", "plan", "slack:sf=0", "easy-malleable:max_mpl=1"}) {
    const auto log = simulate_with({event(1min, 0, NodeState::kDrained, at(30min))}, policy, jobs);
    EXPECT_EQ(log.start(id('C')), at(3min)) << policy;
    EXPECT_EQ(log.start(id('B')), at(30min)) << policy;
  }
}

TEST(NodeEvents, WholeNodesAreNotPlannedWithWhenTheJobsOfADrainedOneEnd) {
  // As above: B waits for both nodes, and C may run until node 0 is up again.
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(10min).rigid(),
                                    job('B').cores(8).arrives(2min).runs(1min).rigid(),
                                    job('C').cores(4).arrives(3min).runs(25min).rigid()};
  SimulationOptions options;
  options.nodes = {event(1min, 0, NodeState::kDrained, at(30min))};
  for (const char* policy : {"g-lomarc-ts:variant=ssp", "g-lomarc-ts:variant=cst"}) {
    const auto log = simulate(policy, Machine::cluster(2, 1, 4), jobs, "isolated", options);
    EXPECT_EQ(log.start(id('C')), at(3min)) << policy;
    EXPECT_EQ(log.start(id('B')), at(30min)) << policy;
    for (const log::Record& record : log.records())
      if (const auto* said = content<ResponseExpected>(record); said != nullptr && said->job == id('B')) {
        EXPECT_EQ(said->response, Duration{29min} * 3 / 4) << policy << ": three quarters of its time by plan";
      }
  }
}

TEST(NodeEvents, AJobWithCoresOnAClosedNodeIsNotResized) {
  // Without the drain A would be shrunk for B.
  const auto log = simulate_with({event(1min, 0, NodeState::kDrained)}, "fcfs-malleable",
                                 {job('A').cores(4).runs(10min), job('B').cores(2).arrives(2min).runs(1min)});
  EXPECT_EQ(log.start(id('B')), at(10min));
  EXPECT_EQ(log.end(id('A')), at(10min));
}

TEST(NodeEvents, AJobOnASilentNodeHasNoEndBeforeThatIsHeardOf) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(10min).rigid(), job('B').cores(2).arrives(1s).runs(1min)};
  const auto silent = event(1min, 1, NodeState::kSilent);
  const auto back = simulate_with({silent, event(20min, 1, NodeState::kUp)}, "fcfs", jobs);
  EXPECT_EQ(back.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(back.end(id('A')), at(20min));
  EXPECT_EQ(back.start(id('B')), at(20min)) << "the cores of A on node 0 are not known to be free";
  const auto down = simulate_with({silent, event(20min, 1, NodeState::kDown)}, "fcfs", jobs);
  EXPECT_EQ(down.outcome(id('A')), Outcome::kLost);
  EXPECT_EQ(down.end(id('A')), at(20min));
}

// No later row says what has become of the node.
TEST(NodeEvents, ANodeThatIsSilentToTheEndIsDownWhenNothingElseRunsOrComes) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(10min).rigid(), job('B').cores(4).runs(30min).rigid(),
                                    job('C').cores(2).arrives(2min).runs(1min).rigid()};
  SimulationOptions options;
  options.nodes = {event(1min, 1, NodeState::kSilent), event(1min, 2, NodeState::kSilent)};
  for (const char* policy : {"fcfs", "easy", "conservative", "slack", "dynp", "fcfs-malleable"}) {
    SCOPED_TRACE(policy);
    const auto log = simulate(policy, Machine::cluster(4, 1, 2), jobs, "isolated", options);
    for (const char name : {'A', 'B'}) {
      EXPECT_EQ(log.outcome(id(name)), Outcome::kLost) << policy;
      EXPECT_EQ(log.end(id(name)), at(30min)) << policy;
    }
    EXPECT_EQ(log.outcome(id('C')), Outcome::kCompleted) << policy;
    EXPECT_GE(log.start(id('C')), at(30min)) << policy;
    EXPECT_LT(log.start(id('C')), at(60min)) << policy;
  }
  options.requeues_lost = true;
  const auto again = simulate("fcfs", Machine::cluster(4, 1, 2), jobs, "isolated", options);
  EXPECT_EQ(again.outcome(id('A')), Outcome::kCompleted);
}

std::size_t kills_in(const MemoryLog& log) {
  return static_cast<std::size_t>(std::ranges::count_if(
      log.records(), [](const log::Record& one) { return content<log::KillDecided>(one) != nullptr; }));
}

TEST(NodeEvents, AJobOnASilentNodeIsKilledAtItsLimitOnlyIfItHasNotEnded) {
  const std::vector<NodeEvent> nodes{event(1min, 1, NodeState::kSilent), event(20min, 1, NodeState::kUp)};
  const auto ended = simulate_with(nodes, "fcfs", {job('A').cores(4).runs(10min).rigid()});
  EXPECT_EQ(kills_in(ended), 0U);
  EXPECT_EQ(ended.outcome(id('A')), Outcome::kCompleted);
  const auto overran = simulate_with(nodes, "fcfs", {job('A').cores(4).runs(30min).estimated(10min).rigid()});
  EXPECT_EQ(kills_in(overran), 1U);
  EXPECT_EQ(overran.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(overran.end(id('A')), at(20min)) << "ordered when the node is heard of";
}

TEST(NodeEvents, AJobThatWasToEndAsItsNodeWentDownHasThatOutcome) {
  const auto log = simulate_with({event(1min, 1, NodeState::kSilent), event(5min, 1, NodeState::kDown)}, "fcfs",
                                 {job('A').cores(4).runs(10min).rigid().cancelled_after(2min)}, true);
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCancelled);
  EXPECT_EQ(log.end(id('A')), at(5min));
}

TEST(NodeEvents, TheEndOfALostRunIsNotThatOfTheNextOne) {
  // B ends unheard on node 1, is lost with it, and runs again on node 0 when node 1 is up.
  const auto log = simulate_with(
      {event(1min, 1, NodeState::kSilent), event(20min, 1, NodeState::kDown), event(25min, 1, NodeState::kUp)}, "fcfs",
      {job('A').cores(2).runs(2min).rigid(), job('B').cores(2).runs(10min).rigid()}, true);
  EXPECT_EQ(log.end(id('B')), at(30min));
}

TEST(NodeEvents, ALaterEventGoesBeforeTheEndThatWasSaid) {
  const auto log = simulate_with({event(0s, 0, NodeState::kDrained, at(10min)), event(0s, 1, NodeState::kDrained),
                                  event(5min, 0, NodeState::kDown), event(20min, 0, NodeState::kUp)},
                                 "fcfs", {job('A').cores(1).arrives(1min).runs(1min)});
  EXPECT_EQ(log.start(id('A')), at(20min));
}

TEST(NodeEvents, ASlackPlanHasNoInstantWhereANodeIsUpAgainUnderAJob) {
  // C has nodes 1 and 2 until 18 min; by plan D starts then, and B on all nodes at 22 min. E costs least behind B. At 15 min, where
  // node 1 is up and C goes on, it would cost less than that: but nothing begins or ends there.
  std::vector<TracedJob> jobs{job('A').cores(1).arrives(5min).runs(4min).rigid(),
                              job('B').cores(15).arrives(8min).runs(0s).estimated(12min).rigid(),
                              job('C').cores(6).arrives(8min).runs(10min).rigid(),
                              job('D').cores(12).arrives(11min).runs(0s).estimated(4min).rigid(),
                              job('E').cores(1).arrives(13min).runs(0s).estimated(8min).rigid()};
  const std::array priorities{0.5, 1., 1., 1., 0.25};
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].job.user_priority = priorities.at(i);
  jobs[1].job.political_priority = jobs[2].job.political_priority = 1;
  SimulationOptions options;
  options.nodes = {event(11min, 2, NodeState::kReserved, at(19min)), event(11min, 1, NodeState::kReserved, at(15min))};
  const auto log = simulate("slack:awt=1000000:heuristic=dc:alpha_u=0.5:alpha_p=0.5", Machine::cluster(5, 1, 3), jobs,
                            "rigid", options);
  EXPECT_EQ(log.start(id('D')), at(18min));
  EXPECT_EQ(log.start(id('E')), at(19min));
}

}  // namespace
}  // namespace replay::test
