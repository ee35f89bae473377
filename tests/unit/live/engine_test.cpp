// Tests of the live engine with an executor without processes: real time, but no MPI. Times are short; the tests depend
// on the order of events only, not on durations.

#include "scheduler/live/engine.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/base/process/send_signal.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/live_run.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing_policies.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::test {
namespace {

TEST_F(Live, TellsJobsOnEmulatedCoresHowMuchTheirNeighboursSlowThemDown) {
  PairTable pairs;
  ASSERT_TRUE(pairs.add(id('A'), id('B'), 1.5) && pairs.add(id('B'), id('A'), 1.25));
  const auto neighbours = make_runtime_model("pairs", {.profile = nullptr, .pairs = &pairs});
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(10s), job('B').cores(1).arrives(2s).runs(5s)}, 0.02,
                           [&](FakeExecutor&, live::RunOptions& options) { options.neighbours = neighbours.get(); });
  using Told = std::pair<JobId, double>;
  EXPECT_EQ(live.slowdowns, (std::vector<Told>{{id('B'), 1.25}, {id('A'), 1.5}, {id('A'), 1}}))
      << "when B comes, and when it has gone";
  EXPECT_EQ(live.misuse, "") << "an agent knows no job before its launch";
}

// Starts all jobs at once, suspends one after 4 s of trace time and resumes it after 8.
class SuspendsForAWhile final : public Policy {
 public:
  explicit SuspendsForAWhile(JobId job) : job_(job) {}
  void decide(const ClusterView& view, Decisions& out) override {
    for (const Job* waiting : view.waiting)
      out.emplace_back(Start{waiting->id, {.cores = cores_needed(*waiting), .named = {}}});
    if (step_ < std::size(kSteps) && view.now >= kSteps[step_]) {
      if (step_++ == 0)
        out.emplace_back(Suspend{job_});
      else if (std::ranges::any_of(view.running.by_start(), [this](const RunningJob* one) {
                 return one->job->id == job_ && one->is_suspended();
               }))
        out.emplace_back(Resume{job_});
    }
    if (step_ < std::size(kSteps)) out.emplace_back(WakeAt{kSteps[step_]});
  }

 private:
  static constexpr std::array kSteps{at(4s), at(8s)};
  JobId job_;
  std::size_t step_ = 0;
};

TEST_F(Live, SuspendedJobsSlowNoneDown) {
  PairTable pairs;
  ASSERT_TRUE(pairs.add(id('A'), id('B'), 1.5) && pairs.add(id('B'), id('A'), 1.25));
  const auto neighbours = make_runtime_model("pairs", {.profile = nullptr, .pairs = &pairs});
  SuspendsForAWhile policy{id('B')};
  const LiveLog live = run(policy, {job('A').cores(1).runs(30s), job('B').cores(1).runs(10s)}, 0.02,
                           [&](FakeExecutor&, live::RunOptions& options) { options.neighbours = neighbours.get(); });
  using Told = std::pair<JobId, double>;
  EXPECT_EQ(live.slowdowns,
            (std::vector<Told>{{id('B'), 1.25}, {id('A'), 1.5}, {id('A'), 1}, {id('A'), 1.5}, {id('A'), 1}}));
}

TEST_F(Live, AJobWhoseSuspensionFailsGoesOnSlowingDownItsNeighbours) {
  PairTable pairs;
  ASSERT_TRUE(pairs.add(id('A'), id('B'), 1.5) && pairs.add(id('B'), id('A'), 1.25));
  const auto neighbours = make_runtime_model("pairs", {.profile = nullptr, .pairs = &pairs});
  SuspendsForAWhile policy{id('B')};
  const LiveLog live = run(policy, {job('A').cores(1).runs(30s), job('B').cores(1).runs(10s)}, 0.02,
                           [&](FakeExecutor& executor, live::RunOptions& options) {
                             options.neighbours = neighbours.get();
                             executor.refuses_suspension = true;
                           });
  using Told = std::pair<JobId, double>;
  EXPECT_EQ(live.slowdowns, (std::vector<Told>{{id('B'), 1.25}, {id('A'), 1.5}, {id('A'), 1}})) << "until B has ended";
}

// A has a process on each of two CPUs until B comes, and both on one CPU after that: if it is resized.
TEST_F(Live, AJobWhoseResizeFailsIsAsSlowAsOnTheCoresThatItHas) {
  machine_ = Machine::cluster(1, 2, 1);
  TracedJob wide = job('A').cores(2).runs(20s);
  Declaration declaration;
  declaration.same_cpu_slowdown = 1.5;
  wide.job.declaration = std::make_shared<const Declaration>(declaration);
  const auto neighbours = make_runtime_model("pairs", {});
  const auto told = [&](bool refuses) {
    const LiveLog live = run("fcfs-malleable", {wide, job('B').cores(1).arrives(2s).runs(5s)}, 0.02,
                             [&](FakeExecutor& executor, live::RunOptions& options) {
                               options.neighbours = neighbours.get();
                               executor.refuses_resize = refuses;
                             });
    EXPECT_EQ(what_is_wrong(live.log, machine_), "");
    return live.slowdowns;
  };
  using Told = std::vector<std::pair<JobId, double>>;
  EXPECT_EQ(told(false), (Told{{id('A'), 1.5}, {id('A'), 1}})) << "while B runs";
  EXPECT_EQ(told(true), Told{});
}

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

// Reasons contain a program's own words, and come from another machine's agent when it is remote.
TEST_F(Live, ReasonsComeInWithoutEscapeSequencesAndAsUtf8) {
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1s)}, 0.01, [](FakeExecutor& executor, live::RunOptions&) {
    executor.fails.insert(id('A'));
    executor.last_words = "\x1b]0;title\x07rank 1:\x1b[31m \xff\nb\xc3\xb6se " + std::string(10'000, 'x');
  });
  std::string reason;
  for (const log::Record& record : live.log.records())
    if (const auto* end = std::get_if<log::Finished>(&record.what)) reason = end->end.reason;
  EXPECT_TRUE(reason.starts_with("rank 1: \xEF\xBF\xBD b\xc3\xb6se xxx")) << reason;
  EXPECT_EQ(reason.size(), kLongestReason + 3);
}

TEST_F(Live, JobsShareCoresAsInTheSimulator) {
  // B joins A at 10 s, both run at half speed; when B has ended, C joins. A second of the trace is 10 ms here.
  const std::vector<TracedJob> jobs{job('A').cores(2).runs(100s), job('B').cores(2).arrives(10s).runs(20s),
                                    job('C').cores(1).arrives(11s).runs(10s)};
  Beside policy;
  const LiveLog live =
      run(policy, jobs, 0.01, [](FakeExecutor& executor, live::RunOptions&) { executor.most_jobs_on_core = 2; });
  EXPECT_EQ(live.misuse, "");
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
  EXPECT_EQ(live.log.decisions(), "start A 2; start B 2; start C 1");
  EXPECT_GE(live.log.end(id('B')) - live.log.start(id('B')), 39s) << "half speed";
  EXPECT_GE(live.log.start(id('C')), live.log.end(id('B')));
  for (const TracedJob& traced : jobs) EXPECT_EQ(live.log.outcome(traced.job.id), Outcome::kCompleted);
}

TEST_F(Live, JobsAreSuspendedAndResumedInTurns) {
  const std::vector<TracedJob> jobs{job('B').cores(2).runs(50s), job('C').cores(2).runs(30s)};
  Slices policy{20s};
  const LiveLog live = run(policy, jobs, 0.02);
  EXPECT_EQ(live.misuse, "") << "no job is awake on cores that another still has";
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCompleted);
  int suspends = 0;
  for (const log::Record& record : live.log.records())
    suspends += std::holds_alternative<log::SuspendDone>(record.what);
  EXPECT_GE(suspends, 1) << "50 s do not fit into a slice of 20 s";
}

TEST_F(Live, ThePairingSaysWhichRanksOfAShrunkJobShareACore) {
  machine_ = Machine::cluster(1, 1, 4);
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(60s), job('B').cores(2).arrives(2s).runs(5s)};
  using Orders = std::vector<std::vector<CoreId>>;
  const std::vector<CoreId> expanded = core_ids({0, 1, 2, 3});
  const LiveLog block = run("fcfs-malleable", jobs, 0.02);
  EXPECT_EQ(block.placements.at(id('A')), (Orders{expanded, core_ids({0, 0, 1, 1}), expanded}));
  const LiveLog cyclic = run("fcfs-malleable", jobs, 0.02,
                             [](FakeExecutor&, live::RunOptions& options) { options.pairing = Pairing::kCyclic; });
  EXPECT_EQ(cyclic.placements.at(id('A')), (Orders{expanded, core_ids({0, 1, 0, 1}), expanded}));
}

TEST_F(Live, NoResizeMovesARankToAnotherNode) {
  machine_ = Machine::cluster(3, 1, 2);
  const std::vector<TracedJob> jobs{job('A').cores(5).runs(60s), job('B').cores(3).arrives(2s).runs(5s),
                                    job('C').cores(4).arrives(4s).runs(5s), job('D').cores(2).arrives(6s).runs(5s)};
  for (const Pairing pairing : {Pairing::kBlock, Pairing::kCyclic}) {
    const LiveLog live =
        run("fcfs-malleable", jobs, 0.02, [&](FakeExecutor&, live::RunOptions& options) { options.pairing = pairing; });
    EXPECT_GE(live.placements.at(id('A')).size(), 2u) << "it is resized";
    for (const auto& [job, orders] : live.placements)
      for (const auto& order : orders) {
        ASSERT_EQ(order.size(), orders.front().size());
        for (std::size_t rank = 0; rank < order.size(); ++rank)
          EXPECT_EQ(machine_.node_of(order[rank]), machine_.node_of(orders.front()[rank])) << "rank " << rank;
      }
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

// Starts nothing.
class Idle final : public Policy {
 public:
  void decide(const ClusterView&, Decisions&) override {}
};

TEST_F(Live, AJobThatThePolicyNeverStartsEndsTheRun) {
  Idle policy;
  const LiveLog live = run(policy, {job('A').cores(1).runs(1s)}, 0.02);
  EXPECT_EQ(live.result.fault, "nothing runs, and the policy starts none of the 1 job that wait");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCancelled);
}

TEST_F(Live, AJobThatCannotBeStartedFailsAndSaysWhy) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(2s)}, 0.02, [](FakeExecutor&, live::RunOptions& options) {
    options.order = [](const TracedJob&, ProcessCount) -> live::LaunchOrder {
      throw std::runtime_error("no such program");
    };
  });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
}

TEST_F(Live, AfterAJobThatCannotBeStartedLikeAllOthersNoFurtherJobIsStartedAndTheRunningOnesGoOn) {
  const LiveLog live = run("fcfs",
                           {job('A').cores(1).runs(4s), job('B').cores(1).arrives(1s).runs(1s),
                            job('C').cores(2).arrives(1s).runs(1s), job('D').cores(1).arrives(2s).runs(1s)},
                           0.02, [](FakeExecutor&, live::RunOptions& options) {
                             options.order = [](const TracedJob& traced, ProcessCount) {
                               if (traced.job.id == id('B')) throw live::CannotStartJobs("r/jobs/B: no space");
                               return live::LaunchOrder{};
                             };
                           });
  EXPECT_EQ(live.result.broken_off, "r/jobs/B: no space");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kFailed);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCancelled);
  EXPECT_EQ(live.placements.size(), 1u) << "only A was launched; D had not come";
}

TEST_F(Live, AJobThatTheExecutorReportsAsNotStartedBreaksTheRunOffAndTheRunningOnesGoOn) {
  const LiveLog live =
      run("fcfs",
          {job('A').cores(1).runs(4s), job('B').cores(1).arrives(1s).runs(1s), job('C').cores(2).arrives(1s).runs(1s)},
          0.02, [](FakeExecutor& executor, live::RunOptions&) { executor.not_started[id('B')] = "cannot fork"; });
  EXPECT_EQ(live.result.broken_off, "cannot fork");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kFailed);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCancelled);
}

// The answer comes when the estimate and the grace are over.
TEST_F(Live, AJobThatTheSiteDoesNotStartHasNotOverrun) {
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1s)}, 1, [](FakeExecutor& executor, live::RunOptions&) {
    executor.not_started[id('A')] = "no process can be made";
    executor.answer_after = std::chrono::milliseconds{3'700};
  });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
  EXPECT_EQ(live.result.broken_off, "no process can be made");
}

TEST_F(Live, AJobPastItsEstimateAndGraceIsKilled) {
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1h).estimated(1s), job('B').cores(2).runs(1s)}, 1);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCompleted);
}

TEST_F(Live, AJobThatItsUserTakesBackLeavesTheQueueOrIsKilled) {
  // B can start only after A, which runs for hours.
  const LiveLog live = run("fcfs",
                           {job('A').cores(2).runs(100h).cancelled_after(40s),
                            job('B').cores(2).runs(1h).cancelled_after(20s), job('C').cores(2).runs(1s)},
                           0.01);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCancelled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(live.log.start(id('B')), kNever);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCompleted);
  EXPECT_EQ(live.result.ended, 3u);
  EXPECT_EQ(live.misuse, "");
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
}

// Sends the next of these signals at each tick.
std::function<void(Instant)> send_at_ticks(std::vector<int> signals) {
  return [signals = std::move(signals), next = std::size_t{0}](Instant) mutable {
    if (next < signals.size()) send_signal(::getpid(), signals[next++]);
  };
}

TEST_F(Live, AJobWhoseRanksHaveNotBeenStartedLeavesTheQueueAtAStop) {
  const StopSignals owner;
  const HeedStops heeding;
  const LiveLog live = run("fcfs", {job('A').cores(1).runs(1h), job('B').cores(1).runs(1h)}, 1,
                           [](FakeExecutor& executor, live::RunOptions& options) {
                             executor.begins_after[id('A')] = 1h;
                             options.tick = send_at_ticks({SIGINT});
                           });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kCancelled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kKilled);
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
}

TEST_F(Live, CtrlCEndsTheRunAndEveryJobHasItsEnd) {
  const StopSignals owner;
  const HeedStops heeding;
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').cores(2).runs(1h)}, 1,
                           [](FakeExecutor&, live::RunOptions& options) { options.tick = send_at_ticks({SIGINT}); });
  EXPECT_TRUE(live.result.interrupted);
  EXPECT_FALSE(live.result.abandoned);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
}

TEST_F(Live, ASecondSignalHasTheJobsKilledAtOnceAndEveryJobHasItsEnd) {
  const StopSignals owner;
  const HeedStops heeding;
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').cores(2).runs(1h)}, 1,
                           [](FakeExecutor& executor, live::RunOptions& options) {
                             executor.orders_to_end = 2;  // the first is SIGTERM, which the job ignores
                             options.tick = send_at_ticks({SIGTERM, SIGINT});
                           });
  EXPECT_TRUE(live.result.interrupted);
  EXPECT_FALSE(live.result.abandoned);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
  EXPECT_EQ(exit_status_after_stop(), 128 + SIGTERM) << "of the first one";
}

TEST_F(Live, AThirdSignalDoesNotWaitForTheEndsOfJobsAndRecordsThem) {
  const StopSignals owner;
  const HeedStops heeding;
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').cores(2).runs(1h)}, 1,
                           [](FakeExecutor& executor, live::RunOptions& options) {
                             executor.orders_to_end = 100;  // never
                             options.tick = send_at_ticks({SIGHUP, SIGINT, SIGINT});
                           });
  EXPECT_TRUE(live.result.abandoned);
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled);
}

TEST_F(Live, ALostExecutorEndsTheRunWithEveryJobRecorded) {
  FakeExecutor* lost = nullptr;
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').cores(2).runs(1h)}, 1,
                           [&](FakeExecutor& executor, live::RunOptions& options) {
                             lost = &executor;
                             options.tick = [&lost, calls = 0](Instant) mutable {
                               if (++calls == 2) lost->lose("the node agent died");
                             };
                           });
  EXPECT_EQ(live.result.lost, "the node agent died");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kFailed);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kCancelled) << "it waited, and A's end did not start it";
  for (const log::Record& record : live.log.records()) {
    const auto* launched = std::get_if<log::Launched>(&record.what);
    EXPECT_TRUE(launched == nullptr || launched->job == id('A'));
  }
}

TEST_F(Live, ANoteOfTheExecutorIsANoteOfTheRun) {
  const LiveLog live =
      run("fcfs", {job('A').cores(2).runs(10s)}, 0.02, [](FakeExecutor& executor, live::RunOptions& options) {
        options.tick = [&executor, calls = 0](Instant) mutable {
          if (++calls == 2) executor.note(id('A'), "rank 1 was not\non its core");
        };
      });
  std::vector<std::string> notes;
  for (const log::Record& record : live.log.records())
    if (const auto* note = std::get_if<log::Note>(&record.what)) notes.push_back(note->text);
  EXPECT_EQ(notes, std::vector<std::string>{fmt::format("job {}: rank 1 was not on its core", number(id('A')))});
}

TEST_F(Live, UntilStopsTheRun) {
  const LiveLog live = run("fcfs", {job('A').cores(2).runs(1h), job('B').arrives(2h)}, 0.02,
                           [](FakeExecutor&, live::RunOptions& options) { options.until = at(5s); });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_FALSE(live.result.interrupted);
}

TEST_F(Live, JobsOfAnExecutorThatIsLostWhileTheRunIsToldToEndAreKilled) {
  const StopSignals signals;
  const HeedStops heeding;
  const LiveLog live =
      run("fcfs", {job('A').cores(2).runs(1h)}, 0.02, [](FakeExecutor& executor, live::RunOptions& options) {
        options.tick = [&executor, calls = 0](Instant) mutable {
          if (++calls != 2) return;
          send_signal(::getpid(), SIGTERM);
          executor.lose("its agent was told to end");
        };
      });
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.result.lost, "its agent was told to end");
}

TEST(Grace, IsFivePercentOrTwoSecondsAndWhatLaunchingCosts) {
  const TracedJob small = job('A').cores(1).runs(10s);
  EXPECT_EQ(live::grace(small.job, 1), 2s + 520ms);
  const TracedJob large = job('A').cores(1).runs(1000s);
  EXPECT_EQ(live::grace(large.job, 1), 50s + 520ms);
  EXPECT_EQ(live::grace(small.job, 0.1), 25s + 200ms) << "real seconds are ten of the trace";
}

// fcfs until a job is submitted after 4 s; then it breaks an invariant of its own.
class BreaksLater final : public Policy {
 public:
  void decide(const ClusterView& view, Decisions& out) override {
    for (const Trigger& trigger : view.triggers)
      INVARIANT(trigger.kind != TriggerKind::kSubmit || trigger.job->submitted < at(4s), "{} of {} cores reserved", 4,
                2);
    fcfs_.policy->decide(view, out);
  }

 private:
  NamedPolicy fcfs_ = make_policy("fcfs");
};

TEST_F(Live, APolicyThatBreaksAnInvariantEndsTheRunWithTheEndOfEachJob) {
  const std::vector<TracedJob> jobs{job('A').cores(1).runs(60s), job('B').cores(1).arrives(1s).runs(60s),
                                    job('C').cores(1).arrives(2s).runs(5s), job('D').cores(1).arrives(5s).runs(5s),
                                    job('E').cores(1).arrives(500s).runs(5s)};
  BreaksLater policy;
  const LiveLog live = run(policy, jobs, 0.02);
  EXPECT_NE(live.result.fault.find("4 of 2 cores reserved"), std::string::npos) << live.result.fault;
  EXPECT_EQ(what_is_wrong(live.log, machine_), "");
  EXPECT_EQ(live.log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('B')), Outcome::kKilled);
  EXPECT_EQ(live.log.outcome(id('C')), Outcome::kCancelled);
  EXPECT_EQ(live.log.outcome(id('D')), Outcome::kCancelled);
  EXPECT_FALSE(live.result.interrupted);
}

}  // namespace
}  // namespace replay::test
