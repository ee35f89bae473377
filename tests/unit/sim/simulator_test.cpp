#include "scheduler/sim/simulator.hpp"

#include <gtest/gtest.h>

#include "scheduler/policy/registry.hpp"
#include "tests/support/random_workload.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

TEST(Simulation, AJobThatOutlivesItsEstimateIsKilledThere) {
  const auto log = simulate("fcfs", cores(1), {job('A').runs(5min).estimated(2min), job('B').runs(1min)});
  EXPECT_EQ(log.end(id('A')), at(2min));
  EXPECT_EQ(log.outcome(id('A')), Outcome::kOverrun);
  EXPECT_EQ(log.start(id('B')), at(2min));
}

TEST(Simulation, WithExtendItRunsToItsEnd) {
  SimulationOptions options;
  options.overrun = Overrun::kExtend;
  const auto log =
      simulate("easy", cores(1), {job('A').runs(5min).estimated(2min), job('B').runs(1min)}, "isolated", options);
  EXPECT_EQ(log.end(id('A')), at(5min));
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
}

TEST(Simulation, AJobOfNoLengthEndsAtItsStart) {
  const auto log = simulate("easy", cores(1), {job('A').runs(0s), job('B').runs(1min)});
  EXPECT_EQ(log.end(id('A')), at(0s));
  EXPECT_EQ(log.start(id('B')), at(0s));
}

TEST(Simulation, TheRuntimeModelDecidesWhatHalfTheCoresCost) {
  const std::vector<TracedJob> jobs{job('A').cores(4).runs(10min).cpu_use(0.75),
                                    job('B').cores(2).arrives(1min).runs(20min).rigid()};
  // A is shrunk at 1 min for the rest of its run: nine minutes of work at 1/1.5 of the speed.
  EXPECT_EQ(simulate("fcfs-malleable", cores(4), jobs, "isolated").end(id('A')), at(1min + 13min + 30s));
  EXPECT_EQ(simulate("fcfs-malleable", cores(4), jobs, "utrera").end(id('A')), at(1min + 18min))
      << "no overhead: ratio 2";
}

TEST(Simulation, UntilEndsTheRunAndEveryJobHasItsEnd) {
  SimulationOptions options;
  options.until = at(90s);
  const auto log =
      simulate("fcfs", cores(1), {job('A').runs(1min), job('B').runs(1min), job('C').runs(1min)}, "isolated", options);
  EXPECT_EQ(log.outcome(id('A')), Outcome::kCompleted);
  EXPECT_EQ(log.outcome(id('B')), Outcome::kKilled);
  EXPECT_EQ(log.end(id('B')), at(90s));
  EXPECT_EQ(log.outcome(id('C')), Outcome::kCancelled);
  EXPECT_EQ(what_is_wrong(log, cores(1)), "");
}

TEST(Simulation, AJobThatItsUserTakesBackLeavesTheQueueOrIsEndedWhereItRuns) {
  // B waits for A and is cancelled at 40 s; C starts in its place, and is cancelled while it runs.
  for (const char* policy : {"fcfs", "easy", "conservative", "slack", "dynp", "easy-malleable"}) {
    const auto log = simulate(
        policy, cores(2),
        {job('A').cores(2).runs(1min).rigid(), job('B').cores(2).runs(3min).rigid().arrives(10s).cancelled_after(30s),
         job('C').cores(2).runs(5min).rigid().arrives(20s).cancelled_after(100s),
         job('D').cores(2).runs(1min).rigid().arrives(30s)},
        "rigid");
    EXPECT_EQ(what_is_wrong(log, cores(2)), "") << policy;
    EXPECT_EQ(log.start(id('B')), kNever) << policy;
    EXPECT_EQ(log.end(id('B')), at(40s)) << policy;
    EXPECT_EQ(log.outcome(id('B')), Outcome::kCancelled) << policy;
    const bool c_first = log.start(id('C')) < log.start(id('D'));
    EXPECT_EQ(log.end(id('C')), at(120s)) << policy;
    EXPECT_EQ(log.outcome(id('C')), Outcome::kCancelled) << policy;
    EXPECT_EQ(log.end(id('D')), c_first ? at(3min) : at(2min)) << policy;
  }
}

TEST(Simulation, AJobThatIsTakenBackAtTheInstantOfItsSubmissionNeverRuns) {
  // At the first instant of a run and later, beside a job that runs.
  for (const char* policy : {"fcfs", "easy", "conservative", "conservative:pass=instant", "slack", "dynp", "plan",
                             "priority-easy", "easy-malleable", "fcfs-malleable", "cirne-berman", "scojo-p", "scojo"})
    for (const Duration when : {0s, 5s}) {
      const auto log = simulate(policy, cores(4),
                                {job('X').cores(2).runs(1min).rigid(), job('A').cancelled_after(0s).arrives(when),
                                 job('B').cores(2).rigid().arrives(when)},
                                "rigid");
      EXPECT_EQ(what_is_wrong(log, cores(4)), "") << policy;
      EXPECT_EQ(log.start(id('A')), kNever) << policy;
      EXPECT_EQ(log.outcome(id('A')), Outcome::kCancelled) << policy;
      EXPECT_EQ(log.outcome(id('B')), Outcome::kCompleted) << policy;
    }
}

TEST(Simulation, WhoFollowsAJobThatIsTakenBackComesItsThinkTimeLater) {
  const auto log = simulate("fcfs", cores(1),
                            {job('A').runs(1min), job('B').runs(1min).arrives(5s).cancelled_after(10s),
                             job('C').runs(1min).follows('B', 7s)});
  EXPECT_EQ(what_is_wrong(log, cores(1)), "");
  EXPECT_EQ(log.start(id('C')), at(1min)) << "submitted at 22 s";
}

TEST(Simulation, NobodyIsShrunkUnderTheRigidModelsJobs) {
  std::vector<TracedJob> jobs = random_jobs(5, 200, 16);
  for (TracedJob& traced : jobs) traced.job.flexibility = Flexibility::kRigid;
  const std::string decisions = simulate("fcfs-malleable", cores(16), jobs, "rigid").decisions();
  EXPECT_EQ(decisions.find("resize"), std::string::npos);
}

TEST(Simulation, PoolAndOneNodeOfTheSameSizeGiveTheSameSchedule) {
  for (const char* policy : {"fcfs", "easy", "fcfs-malleable"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto jobs = random_jobs(seed, 200, 16);
      EXPECT_EQ(simulate(policy, Machine::pool(16), jobs).decisions(),
                simulate(policy, Machine::cluster(1, 1, 16), jobs).decisions())
          << policy << ", seed " << seed;
    }
}

// Also where no job waits: then no job of the log has a reason that says so.
TEST(Simulation, ThatIsInterruptedSaysSoInItsLog) {
  for (const int turns : {0, 1, 2}) {
    SimulationOptions options;
    int left = turns;
    options.interrupted = [&left] { return left-- == 0; };
    const auto log = simulate("easy", cores(2), {job('A').runs(1min), job('B').runs(2min)}, "rigid", options);
    int said = 0;
    for (const log::Record& record : log.records()) {
      const auto* const note = std::get_if<log::Note>(&record.what);
      said += note != nullptr && note->text == "interrupted" ? 1 : 0;
    }
    EXPECT_EQ(said, 1) << turns << " turns";
  }
  SimulationOptions options;
  options.until = at(90s);
  const auto log = simulate("easy", cores(2), {job('A').runs(1min), job('B').runs(2min)}, "rigid", options);
  for (const log::Record& record : log.records())
    EXPECT_FALSE(std::holds_alternative<log::Note>(record.what)) << "an end that was asked for is none";
}

// A resize to fewer cores takes 2 s, one to more 1 s.
class SlowToResize final : public RuntimeModel {
 public:
  double slowdown(const ModelledJob&, const Allocation& on, const Surroundings&) const override { return on.mpl; }
  Duration resize_time(const ModelledJob&, CoreCount from, const Allocation& to, const Surroundings&) const override {
    return to.cores < from ? 2s : 1s;
  }
};

TEST(Simulation, CoresOfAResizeThatTakesTimeAreFreeWhenItIsOver) {
  MemoryLog log;
  const Workload workload{{job('A').cores(2).runs(10s), job('B').cores(1).arrives(3s).runs(4s).rigid()}};
  (void)replay::simulate(cores(2), workload, *make_policy("fcfs-malleable").policy, SlowToResize{}, log);
  EXPECT_EQ(log.decisions(), "start A 2; resize A 1; start B 1; resize A 2");
  EXPECT_EQ(log.end(id('B')), at(9s)) << "launched 2 s after the decision at 3 s";
  // A has done 5 s of its work until it is shrunk, 2.5 s until it is expanded again, a second after B's end at 9 s.
  EXPECT_EQ(log.end(id('A')), at(12'500ms));
}

TEST(Simulation, AJobThatEndsWhileItIsResizedGivesUpAllItsCores) {
  MemoryLog log;
  const Workload workload{{job('A').cores(2).runs(4s), job('B').cores(1).arrives(3s).runs(4s).rigid()}};
  (void)replay::simulate(cores(2), workload, *make_policy("fcfs-malleable").policy, SlowToResize{}, log);
  EXPECT_EQ(log.end(id('A')), at(4s));
  EXPECT_EQ(log.end(id('B')), at(8s));
}

}  // namespace
}  // namespace replay::test
