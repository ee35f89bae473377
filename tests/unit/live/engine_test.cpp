// The live engine against an executor without processes: real time, but no MPI. Times are short; nothing here depends on
// how long something took, only on what happened in which order.

#include "scheduler/live/engine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "scheduler/policy/registry.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

struct LiveLog {
  MemoryLog log;
  live::RunResult result;
  std::string misuse;
};

class Live : public testing::Test {
 protected:
  LiveLog run(std::string_view policy, std::vector<TracedJob> jobs, double scale = 1,
              const std::function<void(FakeExecutor&, live::RunOptions&)>& adjust = {}) {
    std::map<JobId, Duration> runtimes;
    for (const TracedJob& traced : jobs)
      runtimes[traced.job.id] =
          Duration{static_cast<std::int64_t>(static_cast<double>(traced.truth.runtime.count()) * scale)};
    FakeExecutor executor{runtimes};
    live::RunOptions options;
    options.time_scale = scale;
    options.order = [](const TracedJob&) { return live::LaunchOrder{}; };
    if (adjust) adjust(executor, options);
    const Workload workload{std::move(jobs)};
    const NamedPolicy named = make_policy(policy);
    LiveLog live;
    live.result =
        live::run(machine_, workload, *named.policy, *make_runtime_model("isolated"), executor, live.log, options);
    live.misuse = executor.misuse;
    return live;
  }
  Machine machine_ = Machine::cluster(1, 1, 2);
};

TEST_F(Live, DecidesWhatTheSimulatorDecides) {
  // Decisions are at least a second of trace time apart, which is 20 ms of real time here.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(10s), job('B').cores(1).arrives(2s).runs(5s),
                                    job('C').cores(2).arrives(11s).runs(4s), job('D').cores(2).arrives(20s).runs(6s),
                                    job('E').cores(2).arrives(22s).runs(6s)};
  for (const char* policy : {"fcfs", "easy", "fcfs-malleable"}) {
    const LiveLog live = run(policy, jobs, 0.02);
    EXPECT_EQ(live.log.decisions(), simulate(policy, machine_, jobs).decisions()) << policy;
    EXPECT_EQ(what_is_wrong(live.log, machine_), "") << policy;
    EXPECT_EQ(live.misuse, "") << policy;
    EXPECT_EQ(live.result.ended, jobs.size());
  }
}

TEST_F(Live, GivesNoCoreToAJobBeforeTheOtherHasLeftIt) {
  const LiveLog live = run("fcfs-malleable", {job('A').cores(2).runs(10s), job('B').cores(1).arrives(2s).runs(5s)},
                           0.02, [](FakeExecutor& executor, live::RunOptions&) { executor.answer_after = 20ms; });
  EXPECT_EQ(live.misuse, "");
  EXPECT_GE(live.log.start(id('B')) - at(2s), 1s) << "20 ms of real time are a second of the trace";
}

TEST_F(Live, AFailedJobIsRecordedOnceAndTheRestGoesOn) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(2s), job('B').cores(2).runs(2s)}, 0.02,
                           [](FakeExecutor& executor, live::RunOptions&) { executor.fails = {id('A')}; });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
}

TEST_F(Live, AJobThatCannotBeStartedFailsAndSaysWhy) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(2s)}, 0.02, [](FakeExecutor&, live::RunOptions& options) {
    options.order = [](const TracedJob&) -> live::LaunchOrder { throw std::runtime_error("no such program"); };
  });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
}

TEST_F(Live, AJobPastItsEstimateAndGraceIsKilled) {
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1h).estimated(1s), job('B').cores(2).runs(1s)}, 1);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
}

TEST_F(Live, CtrlCEndsTheRunAndEveryJobHasItsEnd) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').cores(2).runs(1h)}, 1,
                           [](FakeExecutor&, live::RunOptions& options) {
                             options.tick = [sent = false](Instant) mutable {
                               if (!std::exchange(sent, true)) ::kill(::getpid(), SIGINT);
                             };
                           });
  EXPECT_TRUE(live.result.interrupted);
  EXPECT_FALSE(live.result.abandoned);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
}

TEST_F(Live, ALostExecutorEndsTheRunWithEveryJobRecorded) {
  FakeExecutor* lost = nullptr;
  const LiveLog live =
      run("fcfs", {job('A').cores(2).runs(1h)}, 1, [&](FakeExecutor& executor, live::RunOptions& options) {
        lost = &executor;
        options.tick = [&lost, calls = 0](Instant) mutable {
          if (++calls == 2) lost->lose("the node agent died");
        };
      });
  EXPECT_EQ(live.result.lost, "the node agent died");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
}

TEST_F(Live, UntilStopsTheRun) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').arrives(2h)}, 0.02,
                           [](FakeExecutor&, live::RunOptions& options) { options.until = at(5s); });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_FALSE(live.result.interrupted);
}

TEST(Grace, IsFivePercentOrTwoSecondsAndWhatLaunchingCosts) {
  const TracedJob small = job('A').cores(1).runs(10s);
  EXPECT_EQ(live::grace(small.job, 1), 2s + 520ms);
  const TracedJob large = job('A').cores(1).runs(1000s);
  EXPECT_EQ(live::grace(large.job, 1), 50s + 520ms);
  EXPECT_EQ(live::grace(small.job, 0.1), 25s + 200ms) << "real seconds are ten of the trace";
}

}  // namespace
}  // namespace replay::test
