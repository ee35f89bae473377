// Tests of the end of a live run's machine, as of a batch system's job at its time limit: the run ends before, and policies
// know it.
#include <gtest/gtest.h>

#include <chrono>

#include "scheduler/live/engine.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/live_run.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST_F(Live, TheEndOfItsMachineStopsTheRunBefore) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').arrives(1s), job('C').arrives(2h)}, 0.02,
                           [](FakeExecutor&, live::RunOptions& options) {
                             options.machine_end = {std::chrono::steady_clock::now() + live::kBeforeMachineEnd + 100ms,
                                                    "the lease of the machine"};
                           });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_GE(live.log.end(id('A')), at(4s)) << "not before";
  EXPECT_TRUE(live.result.interrupted);
  EXPECT_EQ(live.result.broken_off, "the lease of the machine is 30 s away");
}

TEST_F(Live, TheEndOfItsMachineStopsARunThatStartsNoFurtherJob) {
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1h), job('B').cores(1).arrives(1s).runs(1s)}, 0.02,
                           [](FakeExecutor&, live::RunOptions& options) {
                             options.order = [](const TracedJob& traced, ProcessCount) {
                               if (traced.job.id == id('B')) throw live::CannotStartJobs("r/jobs/B: no space");
                               return live::LaunchOrder{};
                             };
                             options.machine_end = {std::chrono::steady_clock::now() + live::kBeforeMachineEnd + 100ms,
                                                    "the lease of the machine"};
                           });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.result.broken_off, "r/jobs/B: no space") << "the first reason";
}

class AsksHowLongTheMachineIsThere final : public Policy {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    until = view.machine_until;
    fcfs_.policy->decide(view, out);
  }
  Instant until{};

 private:
  NamedPolicy fcfs_ = make_policy("fcfs");
};

TEST_F(Live, PoliciesAreToldWhenTheRunEndsWithItsMachine) {
  AsksHowLongTheMachineIsThere policy;
  (void)run(policy, {job('A').cores(1).runs(1s)}, 0.02);
  EXPECT_EQ(policy.until, kNever);
  (void)run(policy, {job('A').cores(1).runs(1s)}, 0.02, [](FakeExecutor&, live::RunOptions& options) {
    options.machine_end = {std::chrono::steady_clock::now() + live::kBeforeMachineEnd + 60s, "the lease"};
  });
  EXPECT_GT(policy.until, at(2950s)) << "60 s of real time are 3000 of the trace";
  EXPECT_LE(policy.until, at(3000s));
}

}  // namespace
}  // namespace replay::test
