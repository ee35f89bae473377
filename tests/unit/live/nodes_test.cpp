// Tests of the live engine with nodes that are silent, go down and come back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "tests/support/live_run.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

/// Two nodes of one core each.
class LiveNodes : public Live {
 protected:
  /// What happens to a node as soon as a job has been launched so many times.
  struct Step {
    char after;
    NodeChange change;
    std::size_t launches = 1;
  };
  void SetUp() override { machine_ = Machine::cluster(2, 1, 1); }

  LiveLog run_with(std::vector<TracedJob> jobs, std::vector<Step> steps, const Adjust& adjust = {}) {
    return run("fcfs", std::move(jobs), kScale, [&](FakeExecutor& executor, live::RunOptions& options) {
      options.nodes_come_back_within = 50ms;
      options.tick = [this, &executor, steps, done = std::size_t{0}](Instant) mutable {
        if (done == steps.size()) return;
        const auto launched = executor.placements.find(id(steps[done].after));
        if (launched == executor.placements.end() || launched->second.size() < steps[done].launches) return;
        executor.change(machine_, steps[done++].change);
      };
      if (adjust) adjust(executor, options);
    });
  }
  static NodeChange becomes(int node, NodeState state, std::string reason = "") {
    return {NodeId{node}, state, kNever, std::move(reason), ""};
  }
  static std::string reason(const LiveLog& live, JobId job) {
    for (const log::Record& record : live.log.records())
      if (const auto* end = std::get_if<log::Finished>(&record.what); end != nullptr && end->job == job)
        return end->end.reason;
    return "no end";
  }
  template <class What>
  static std::ptrdiff_t count(const LiveLog& live) {
    return std::ranges::count_if(live.log.records(),
                                 [](const log::Record& record) { return std::holds_alternative<What>(record.what); });
  }

  static constexpr double kScale = 0.02;  // a tick is 5 s of the trace
};

TEST_F(LiveNodes, AJobIsLostWithItsNodeTheOthersGoOnAndLaterOnesRunOnWhatIsLeft) {
  const LiveLog live =
      run_with({job('A').cores(1).runs(1h), job('B').cores(1).runs(20s), job('C').cores(1).arrives(2s).runs(10s)},
               {{'B', becomes(0, NodeState::kDown, "gone\x1b[2K")}});
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kLost);
  EXPECT_EQ(reason(live, id('A')), "gone") << "as every reason, without escape sequences";
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCompleted);
  EXPECT_EQ(live.placements.at(id('C')).front(), std::vector<CoreId>{CoreId{1}});
  EXPECT_EQ(live.result.lost, "");
  EXPECT_EQ(live.misuse, "");
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
}

TEST_F(LiveNodes, ANodeThatGoesDownAgainIsCounted) {
  const LiveLog live =
      run_with({job('A').cores(1).runs(20s)}, {}, [this](FakeExecutor& executor, live::RunOptions& options) {
        options.tick = [this, &executor, is_done = false](Instant) mutable {
          if (!executor.placements.contains(id('A')) || std::exchange(is_done, true)) return;
          for (const char* why : {"gone", "gone", ""}) {
            executor.change(machine_, becomes(1, NodeState::kDown, why));
            executor.change(machine_, becomes(1, NodeState::kUp));
          }
        };
      });
  std::vector<std::string> said;
  for (const log::Record& record : live.log.records())
    if (const auto* change = std::get_if<NodeChange>(&record.what);
        change != nullptr && change->state == NodeState::kDown)
      said.push_back(change->reason);
  EXPECT_EQ(said, (std::vector<std::string>{"gone", "gone; down 2 times in this run", "down 3 times in this run"}));
}

TEST_F(LiveNodes, ASilentNodeLosesNothingAndStartsNothing) {
  const LiveLog live = run_with(
      {job('A').cores(1).runs(40s), job('B').cores(1).arrives(20s).runs(5s), job('C').cores(1).arrives(20s).runs(30s)},
      {{'A', becomes(1, NodeState::kSilent)}, {'C', becomes(1, NodeState::kUp)}});
  for (const char name : {'A', 'B', 'C'}) {
    EXPECT_EQ(live.log.outcome(id(name)), Outcome::kCompleted) << name;
    EXPECT_EQ(live.placements.at(id(name)).front(), std::vector<CoreId>{CoreId{0}}) << name;
  }
  EXPECT_EQ(count<NodeChange>(live), 2);
}

// The job waits while nothing runs: a policy that starts nothing then has not failed.
TEST_F(LiveNodes, AJobThatNeedsASilentNodeStartsWhenThatIsHeardOfAgain) {
  bool is_up = false;
  const LiveLog live =
      run_with({job('A').cores(1).runs(20s), job('B').cores(2).arrives(20s).runs(5s)},
               {{'A', becomes(1, NodeState::kSilent)}}, [&](FakeExecutor& executor, live::RunOptions& options) {
                 options.tick = [this, &is_up, &executor, silences = options.tick](Instant now) {
                   silences(now);
                   if (now < at(60s) || std::exchange(is_up, true)) return;
                   EXPECT_FALSE(executor.placements.contains(id('B')));
                   executor.change(machine_, becomes(1, NodeState::kUp));
                 };
               });
  EXPECT_TRUE(is_up);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
  EXPECT_EQ(live.result.fault, "");
}

TEST_F(LiveNodes, AJobThatNeedsANodeThatStaysDownIsCancelled) {
  const LiveLog live = run_with({job('A').cores(1).runs(20s), job('B').cores(2).arrives(2s).runs(5s)},
                                {{'A', becomes(1, NodeState::kDown, "gone")}});
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_TRUE(reason(live, id('B')).starts_with("needs 2 cores, 1 ")) << reason(live, id('B'));
  EXPECT_EQ(live.result.fault, "");
  EXPECT_EQ(live.result.broken_off, "1 job needs more cores than are left: nodes are closed");
}

TEST_F(LiveNodes, WhenTheLastNodeIsLostJobsThatWaitAreCancelledThoughNothingRan) {
  const LiveLog live = run_with({job('A').cores(1).runs(1h), job('B').cores(2).arrives(2s).runs(5s)},
                                {{'A', becomes(0, NodeState::kDown, "gone")}, {'A', becomes(1, NodeState::kSilent)}},
                                [](FakeExecutor& executor, live::RunOptions& options) {
                                  options.nodes_come_back_within = 10s;
                                  options.tick = [&executor, nodes = options.tick, calls = 0](Instant now) mutable {
                                    nodes(now);
                                    if (++calls == 6) executor.lose("all are gone");
                                  };
                                });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kLost);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(live.result.lost, "all are gone");
}

TEST_F(LiveNodes, AJobThatIsQueuedAgainStartsAnewWithItsFirstPlace) {
  const LiveLog live =
      run_with({job('A').cores(1).runs(30s), job('B').cores(1).runs(30s), job('C').cores(1).arrives(2s).runs(5s)},
               {{'B', becomes(0, NodeState::kDown, "gone")}},
               [](FakeExecutor&, live::RunOptions& options) { options.requeues_lost = true; });
  ASSERT_EQ(live.placements.at(id('A')).size(), 2U);
  EXPECT_EQ(live.placements.at(id('A')).back(), std::vector<CoreId>{CoreId{1}});
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(count<log::Requeued>(live), 1);
  EXPECT_EQ(live.result.ended, 3U) << "one end each";
  EXPECT_LT(live.log.start(id('A')), live.log.start(id('C')));
  EXPECT_EQ(live.misuse, "");
}

TEST_F(LiveNodes, AJobThatWasToWaitAgainIsLostWhereTheRunEndsMeanwhile) {
  const StopSignals signals;
  const HeedStops heeding;
  const LiveLog live =
      run_with({job('A').cores(1).runs(1h)}, {}, [this](FakeExecutor& executor, live::RunOptions& options) {
        options.requeues_lost = true;
        options.tick = [this, &executor, is_done = false](Instant) mutable {
          if (!executor.placements.contains(id('A')) || std::exchange(is_done, true)) return;
          executor.change(machine_, becomes(0, NodeState::kDown, "gone"));
          send_signal(::getpid(), SIGTERM);
        };
      });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kLost);
  EXPECT_EQ(count<log::Requeued>(live), 0);
  EXPECT_TRUE(live.result.interrupted);
}

}  // namespace
}  // namespace replay::test
