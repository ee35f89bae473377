// Tests of jobs with a failing process, at any moment: killed, or stopped and then told to end. For every process, the
// job's end is reported once and with the right outcome, and two seconds later nothing of the job is left
// (docs/failures.md has the table).
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "launcher/os/control_group.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/failures_fixture.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;
using Where = std::tuple<Victim, Situation>;

std::string case_name(const testing::TestParamInfo<Where>& info) {
  return name_of(std::get<0>(info.param)) + "While" + name_of(std::get<1>(info.param));
}

const auto kVictims = testing::Values(Victim::kRank0, Victim::kRank1, Victim::kMpiexec, Victim::kProxy);

// ---- killed ---------------------------------------------------------------------------------------------------------

class Killed : public Failures, public testing::WithParamInterface<Where> {};

TEST_P(Killed, TheJobFailsAndItsCoresAreFree) {
  const auto [victim, situation] = GetParam();
  start();
  bring_to(situation);
  if (HasFatalFailure()) return;
  send(victim, SIGKILL);
  switch (victim) {
    case Victim::kMpiexec: return expect_end(Outcome::kFailed, "mpiexec was killed by signal 9");
    case Victim::kProxy: return expect_end(Outcome::kFailed, "Hydra's proxy died");
    default: break;
  }
  // All that were found dead, which may be both, since Hydra kills the other.
  expect_end(Outcome::kFailed, ": Killed (signal 9)");
}

INSTANTIATE_TEST_SUITE_P(Failures, Killed,
                         testing::Combine(kVictims, testing::Values(Situation::kInit, Situation::kComputing,
                                                                    Situation::kShrunk, Situation::kSuspended)),
                         case_name);

// ---- stopped --------------------------------------------------------------------------------------------------------

class Stopped : public Failures, public testing::WithParamInterface<Where> {};

TEST_P(Stopped, TheEndIsNotDelayedAndNamesWhoWasFoundStopped) {
  const auto [victim, situation] = GetParam();
  start();
  bring_to(situation);
  if (HasFatalFailure()) return;
  send(victim, SIGSTOP);
  order_end(Outcome::kOverrun);
  const std::string who = victim == Victim::kMpiexec ? "mpiexec"
                          : victim == Victim::kProxy ? "Hydra's proxy"
                          : victim == Victim::kRank0 ? "rank 0"
                                                     : "rank 1";
  expect_end(Outcome::kOverrun, who + " was stopped by SIGSTOP from outside");
}

INSTANTIATE_TEST_SUITE_P(Failures, Stopped,
                         testing::Combine(kVictims,
                                          testing::Values(Situation::kInit, Situation::kComputing, Situation::kShrunk)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(SuspendedToo, Stopped,
                         testing::Combine(testing::Values(Victim::kMpiexec, Victim::kProxy),
                                          testing::Values(Situation::kSuspended)),
                         case_name);

TEST_F(Failures, EverybodyStoppedAtOnceIsStillEnded) {
  start();
  bring_to(Situation::kComputing);
  for (const Victim victim : {Victim::kRank0, Victim::kRank1, Victim::kProxy, Victim::kMpiexec}) send(victim, SIGSTOP);
  order_end(Outcome::kCancelled);
  expect_end(Outcome::kCancelled, "mpiexec, Hydra's proxy, rank 0, rank 1 were stopped by SIGSTOP from outside");
}

TEST_F(Failures, ASuspendedJobThatIsEndedBlamesNobody) {
  start();
  bring_to(Situation::kShrunkAndSuspended);
  order_end(Outcome::kOverrun);
  expect_end(Outcome::kOverrun, "");
}

TEST_F(Failures, AStoppedRankThatGoesOnCompletes) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  send(Victim::kRank1, SIGSTOP);
  send(Victim::kRank1, SIGCONT);
  expect_end(Outcome::kCompleted, "");
}

/// The order to end comes this many ms after the launch, in any state of Hydra and the ranks.
class EndedEarly : public Failures, public testing::WithParamInterface<int> {};

TEST_P(EndedEarly, InTheMiddleOfItsStart) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  const auto then = Clock::now() + std::chrono::milliseconds{GetParam()};
  ASSERT_TRUE(until([&] { return Clock::now() >= then; }));
  order_end(Outcome::kOverrun);
  expect_end(Outcome::kOverrun, "");
}

INSTANTIATE_TEST_SUITE_P(Failures, EndedEarly, testing::Values(0, 1, 2, 4, 8, 16, 32, 64),
                         [](const auto& test) { return "After" + std::to_string(test.param) + "ms"; });

TEST_F(Failures, ADeadRankIsNoticedThoughMpiexecIsStopped) {
  start();
  bring_to(Situation::kComputing);
  send(Victim::kMpiexec, SIGSTOP);
  send(Victim::kRank1, SIGKILL);
  expect_end(Outcome::kFailed, " died without MPI_Finalize, and mpiexec did not notice");
  EXPECT_TRUE(its_end().reason.starts_with("rank 1 ") || its_end().reason.starts_with("ranks 0-1 "));
}

// ---- programs that ignore signals
// ------------------------------------------------------------------------------------

TEST_F(Failures, AJobAtItsEstimateThatIgnoresSigtermIsEnded) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "deaf", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  order_end(Outcome::kOverrun);
  expect_end(Outcome::kOverrun, "");
}

TEST_F(Failures, ChildrenThatOutliveTheirJobAreEnded) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "litter"}, 2);
  expect_end(Outcome::kCompleted, "");
}

TEST_F(Failures, ADaemonThatARankMadeEndsWithTheJob) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "daemon", "0.2"}, 2);
  expect_end(Outcome::kCompleted, "");
}

TEST_F(Failures, ADaemonThatARankMadeEndsWhenTheJobIsEnded) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "daemon", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started() && its_processes().size() >= 6; }));
  order_end(Outcome::kOverrun);
  expect_end(Outcome::kOverrun, "");
}

TEST_F(Failures, ADaemonOfOneJobDoesNotOutliveItWhenAnotherJobRuns) {
  start();
  auto other = order({REPLAY_RANK_PROGRAM, "talk", "60"}, 1, JobId{9});
  std::filesystem::create_directories(directory_ / "other");
  other.directory = directory_ / "other";
  executor_->launch(other);
  ASSERT_TRUE(until([&] { return seen_.started.contains(JobId{9}); }));
  const std::size_t processes_of_the_other = its_processes().size();
  launch({REPLAY_FAULT_PROGRAM, "daemon", "0.2"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_processes().size(), processes_of_the_other);
  EXPECT_FALSE(seen_.ended.contains(JobId{9}));
  executor_->end(JobId{9}, Outcome::kKilled);
  EXPECT_TRUE(until([&] { return seen_.ended.contains(JobId{9}); }));
}

/// Processes with a command line that begins with `tag`.
std::vector<pid_t> processes_called(const std::string& tag) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream file{entry.path() / "cmdline", std::ios::binary};
    std::string line;
    if (file && std::getline(file, line, '\0') && line == tag) found.push_back(std::stoi(entry.path().filename()));
  }
  return found;
}

TEST_F(Failures, ADaemonWithoutEnvironmentEndsWithTheJob) {
  const std::string tag = "hidden-" + std::to_string(::getpid()) + "-alone";
  start();
  launch({REPLAY_FAULT_PROGRAM, "hide", "60", tag}, 2);
  ASSERT_TRUE(until([&] { return has_started() && processes_called(tag).size() == 2; }));
  order_end(Outcome::kOverrun);
  expect_end(Outcome::kOverrun, "");
  EXPECT_EQ(processes_called(tag), std::vector<pid_t>{});
}

TEST_F(Failures, ADaemonWithoutEnvironmentDoesNotOutliveItsJobWhenAnotherJobRuns) {
  if (!ControlGroup::make("replay-test-" + std::to_string(::getpid())))
    GTEST_SKIP() << "no control group can be made here: such a process then ends with the last job that runs";
  const std::string tag = "hidden-" + std::to_string(::getpid()) + "-beside";
  start();
  auto other = order({REPLAY_RANK_PROGRAM, "talk", "60"}, 1, JobId{9});
  std::filesystem::create_directories(directory_ / "other");
  other.directory = directory_ / "other";
  executor_->launch(other);
  ASSERT_TRUE(until([&] { return seen_.started.contains(JobId{9}); }));
  launch({REPLAY_FAULT_PROGRAM, "hide", "0.2", tag}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(processes_called(tag), std::vector<pid_t>{});
  EXPECT_FALSE(seen_.ended.contains(JobId{9}));
  executor_->end(JobId{9}, Outcome::kKilled);
  EXPECT_TRUE(until([&] { return seen_.ended.contains(JobId{9}); }));
}

TEST_F(Failures, ADaemonWithoutEnvironmentDoesNotOutliveAnAgentThatIsKilled) {
  const std::string tag = "hidden-" + std::to_string(::getpid()) + "-killed";
  start();
  launch({REPLAY_FAULT_PROGRAM, "hide", "60", tag}, 2);
  ASSERT_TRUE(until([&] { return has_started() && processes_called(tag).size() == 2; }));
  send_signal(agent_pid_, SIGKILL);
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }));
  EXPECT_EQ(processes_called(tag), std::vector<pid_t>{});
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Failures, ARankThatBecomesADaemonIsNoLongerTheJob) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "vanish"}, 2);
  expect_end(Outcome::kCompleted, "");
}

}  // namespace
}  // namespace replay::launcher
