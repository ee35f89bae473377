// Tests of the outcome that is reported for a job, and of its reason.
#include "launcher/agent/job/job_outcome.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/few_processes.hpp"

namespace replay::launcher {
namespace {

constexpr int exited_with(int code) { return code << 8; }  // as waitpid gives it

class TheOutcome : public testing::Test {
 protected:
  void SetUp() override {
    site_.loop = loop_.get();
    site_.cores = &cores_;
    site_.starts = &starts_;
    site_.registration_limit = std::chrono::hours{1};
    protocol::LaunchJob order;
    order.core_of_rank = {0, 1};
    job_ = std::make_unique<JobContext>(site_, order, [](std::size_t) {});
  }
  /// mpiexec was there, and left these messages.
  void leave_messages(std::string_view output, std::string_view errors) {
    job_->processes.take({Process::open(::getpid()), file("out", output), file("err", errors)});
    job_->processes.on_mpiexec_exit();
  }
  UniqueFd file(const std::string& name, std::string_view text) {
    UniqueFd made{::open((folder_ / name).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    EXPECT_EQ(::write(made.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return made;
  }
  JobEnd judged(const HowItEnded& how) const { return judge(*job_, how); }

  TemporaryFolder folder_;
  EventBase loop_{event_base_new()};
  NodeCores cores_{4, {}};
  RecentStarts starts_;
  AgentSite site_;
  std::unique_ptr<JobContext> job_;
};

TEST_F(TheOutcome, ARigidJobWhoseMpiexecIsContentIsCompleted) {
  leave_messages("VERIFICATION SUCCESSFUL\n", "");
  const JobEnd end = judged({});
  EXPECT_EQ(end.outcome, Outcome::kCompleted);
  EXPECT_EQ(end.reason, "");
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.verification, Verification::kPassed);
  EXPECT_LT(end.cpu_use, 0) << "no rank was measured";
}

TEST_F(TheOutcome, AnExitCodeIsNotTakenForTheDeathOfTheProxyThatLeftBeforeMpiexec) {
  leave_messages("", "");
  EXPECT_EQ(judged({exited_with(3), {}, {}, {}, kProxyDied}).reason, "mpiexec: exit code 3");
}

TEST_F(TheOutcome, AProxyThatCouldNotStartIsNotTakenForAForeignConnection) {
  const char* const complaint =
      "[mpiexec@n] HYD_pmcd_pmiserv_proxy_init_cb (pm/pmiserv/pmiserv_cb.c:446): assert (!closed) failed\n";
  leave_messages("", complaint);
  site_.network = JobNetwork::kOwn;
  EXPECT_EQ(judged({exited_with(255), {}, {}, {}, {}}).reason.find("mpiexec lost its proxy, which was killed or"), 0U);
  site_.network = JobNetwork::kHost;
  EXPECT_EQ(judged({exited_with(255), {}, {}, {}, {}}).reason.find("mpiexec lost its proxy's connection, or one"), 0U);
}

// Without vmlib nothing tells how far the ranks came, or what the program has taken. Of 2 ranks: 6 processes with mpiexec,
// its proxy and two threads.
TEST_F(TheOutcome, ARankThatLacksItsThreadIsTheSitesFaultWhileThereIsNoRoomForTheJobWithoutIt) {
  const char* const failure =
      "[n1:12   :0:12]      thread.c:226  Assertion `ucs_async_thread_global_context.thread != NULL' failed\n";
  const auto bad = [](int pid) {
    return fmt::format(
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID {} RUNNING AT a\n=   EXIT CODE: 6\n"
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)\n",
        pid);
  };
  starts_.add(2);
  const auto refused_within = [this](rlim_t processes) {
    return test::within_limit(processes, [this] { return was_refused_a_thread(*job_) ? 1 : 0; });
  };
  leave_messages(bad(12), failure);
  if (refused_within(1) == test::kNoLimit) GTEST_SKIP() << "no limit of processes binds here";
  EXPECT_EQ(refused_within(6), 1);
  EXPECT_EQ(refused_within(7), 0) << "there is room for it beside the agent: it fails by itself";
  starts_.add(1);
  EXPECT_EQ(refused_within(10), 1) << "one that was started with it needs 4";
  EXPECT_EQ(refused_within(11), 0);
  job_->init_of_unregistered = JobContext::Init::kLeft;
  EXPECT_EQ(refused_within(6), 0) << "a rank has been in MPI_Init, and gone on";
  job_->init_of_unregistered = JobContext::Init::kAhead;
  leave_messages(bad(12), "");
  EXPECT_EQ(refused_within(6), 0) << "for another reason";
  leave_messages(bad(11), failure);
  EXPECT_EQ(refused_within(6), 0) << "what lacks the thread is a program that the rank has started";
  job_->seen_ranks = {11, 12};
  EXPECT_EQ(refused_within(6), 1) << "a rank, though not the one that Hydra names of those that ended";
  site_.registration_limit = std::chrono::milliseconds{0};
  EXPECT_EQ(refused_within(6), 0) << "its ranks had begun long before";
}

TEST_F(TheOutcome, AnOrderCountsMoreThanWhatMpiexecSays) {
  leave_messages("", "killed\n");
  HowItEnded how{
      .exit_status = exited_with(1), .asked = Outcome::kKilled, .broken = {}, .stopped = {}, .unnoticed = {}};
  EXPECT_EQ(judged(how).outcome, Outcome::kKilled);
  EXPECT_EQ(judged(how).reason, "");
  EXPECT_EQ(judged(how).exit_code, 1);
  how.stopped = "rank 0 was stopped";
  EXPECT_EQ(judged(how).reason, "rank 0 was stopped");
}

TEST_F(TheOutcome, AJobThatTheAgentFoundBrokenHasFailedForThatReason) {
  leave_messages("", "mpiexec says something else\n");
  HowItEnded how;
  how.broken = "Hydra's proxy died, and mpiexec did not notice";
  how.exit_status = SIGKILL;
  const JobEnd end = judged(how);
  EXPECT_EQ(end.outcome, Outcome::kFailed);
  EXPECT_EQ(end.reason, "Hydra's proxy died, and mpiexec did not notice");
  EXPECT_EQ(end.exit_code, 128 + SIGKILL);
}

TEST_F(TheOutcome, AJobThatWasNeverStartedHasNoVerification) {
  HowItEnded how;
  how.broken = "program p: not found, or not executable";
  how.exit_status = exited_with(127);
  EXPECT_EQ(judged(how).verification, Verification::kNone);
  EXPECT_EQ(judged(how).exit_code, 127);
}

TEST_F(TheOutcome, TheSignalThatKilledMpiexecIsNamed) {
  leave_messages("", "");
  HowItEnded how;
  how.exit_status = SIGKILL;
  EXPECT_EQ(judged(how).reason, "mpiexec was killed by signal 9 (Killed)");
}

TEST_F(TheOutcome, AnExitCodeComesWithTheLastComplaint) {
  leave_messages("", "first\nthere is no such file\n");
  HowItEnded how;
  how.exit_status = exited_with(3);
  EXPECT_EQ(judged(how).reason, "mpiexec: exit code 3; stderr: there is no such file");
}

TEST_F(TheOutcome, AFailureThatOnlyTheAgentSawIsTheReason) {
  leave_messages("", "");
  HowItEnded how;
  how.exit_status = exited_with(7);
  how.unnoticed = "rank 1 died without MPI_Finalize";
  EXPECT_EQ(judged(how).reason, "rank 1 died without MPI_Finalize; mpiexec: exit code 7");
}

TEST_F(TheOutcome, AFailureOnAnotherNodeCountsMoreThanItsConsequencesHere) {
  const std::string bad =
      "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 12 RUNNING AT a\n=   EXIT CODE: 9\n"
      "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n";
  leave_messages(bad, "");
  HowItEnded how;
  how.exit_status = exited_with(9);
  how.unnoticed = "b: rank 3 died without MPI_Finalize";
  EXPECT_EQ(judged(how).reason, "a rank: Killed (signal 9)");
  how.dead = "ranks 0-1";
  EXPECT_EQ(judged(how).reason, "ranks 0-1: Killed (signal 9)");
  how.is_elsewhere = true;
  EXPECT_EQ(judged(how).reason, "b: rank 3 died without MPI_Finalize");
}

TEST_F(TheOutcome, OnEmulatedCoresEveryRankMustHaveRegistered) {
  site_.is_emulated = true;
  leave_messages("", "");
  const JobEnd end = judged({});
  EXPECT_EQ(end.outcome, Outcome::kFailed);
  EXPECT_EQ(end.reason, "only 0 of 2 ranks reached MPI_Init; " + std::string{kOnlyFitPrograms});
}

}  // namespace
}  // namespace replay::launcher
