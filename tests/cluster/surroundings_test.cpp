// Tests of failures around a job: of its directory, its command, the agent, and the daemon.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "launcher/os/cgroup.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/failures_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// ---- directory ------------------------------------------------------------------------------------------------------

class Surroundings : public Failures {};

TEST_F(Surroundings, AJobWhoseDirectoryIsMissingFailsAndSaysSo) {
  start();
  fs::remove_all(directory_ / "job");
  executor_->launch(order({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2));  // it does not run there
  expect_end(Outcome::kFailed, "cannot write into " + (directory_ / "job").string());
}

TEST_F(Surroundings, AJobWhoseDirectoryMayNotBeWrittenFailsAndSaysSo) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  start();
  fs::permissions(directory_ / "job", fs::perms::owner_read | fs::perms::owner_exec);
  launch({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2);
  expect_end(Outcome::kFailed, "cannot write into " + (directory_ / "job").string());
  fs::permissions(directory_ / "job", fs::perms::owner_all);
}

TEST_F(Surroundings, ADiskThatIsFullAtTheStartIsNamed) {
  start();
  fs::create_symlink("/dev/full", directory_ / "job" / "command");
  launch({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2);
  expect_end(Outcome::kFailed, "No space left on device");
}

TEST_F(Surroundings, ADiskThatIsFullForTheOutputEndsTheJobWithItsFirstLine) {
  start();
  fs::create_symlink("/dev/full", directory_ / "job" / "stdout");
  launch({REPLAY_FAULT_PROGRAM, "write", "60"}, 2);
  expect_end(Outcome::kFailed, "No space left on device");
}

// mpiexec's own words are lost on the same disk.
TEST_F(Surroundings, ADiskThatFillsWhileAJobRunsIsNamed) {
  const fs::path job = directory_ / "job";
  if (::mount("tmpfs", job.c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "a small tmpfs cannot be mounted here (needs root)";
  start();
  launch({"/bin/sh", "-c", "cat /dev/zero >filler; sleep 60"}, 1);
  expect_end(Outcome::kFailed, "no room on the disk of " + job.string());
  ::umount2(job.c_str(), MNT_DETACH);
}

// The agent's limit is what mpiexec and the ranks get.
TEST_F(Surroundings, TooFewOpenFilesAreAFaultOfTheSite) {
  start();
  const rlimit few{24, 24};
  ASSERT_EQ(::prlimit(agent_pid_, RLIMIT_NOFILE, &few, nullptr), 0);
  launch({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_TRUE(seen_.site_fault) << its_end().reason;
  EXPECT_EQ(its_end().reason.find("the limit of open files (ulimit -n) is 24, and a job of 2 processes"), 0U)
      << its_end().reason;
}

TEST_F(Surroundings, AJobWhoseDirectoryIsRemovedWhileItRunsEndsAsIfItWereThere) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "1"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  fs::remove_all(directory_ / "job");
  expect_end(Outcome::kCompleted, "");
}

TEST_F(Surroundings, AFailureIsExplainedWithoutTheDirectoryToo) {
  start();
  bring_to(Situation::kComputing);
  fs::remove_all(directory_ / "job");
  send(Victim::kRank1, SIGKILL);
  expect_end(Outcome::kFailed, "Killed (signal 9)");
}

// ---- command --------------------------------------------------------------------------------------------------------

TEST_F(Surroundings, ACommandOf200KbArrivesWhole) {
  start();
  std::vector<std::string> command{REPLAY_FAULT_PROGRAM, "count"};
  command.insert(command.end(), 100, std::string(2000, 'x'));
  launch(command, 2);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(file("stdout"), "100 arguments, 200000 bytes\n");
}

TEST_F(Surroundings, AnArgumentThatTheKernelRefusesIsNamed) {
  start();
  launch({REPLAY_FAULT_PROGRAM, "count", std::string(200'000, 'x')}, 2);
  expect_end(Outcome::kFailed, "Argument list too long");
}

TEST_F(Surroundings, MoreArgumentsThanHydraTakesAreNamed) {
  start();
  std::vector<std::string> command{REPLAY_FAULT_PROGRAM, "count"};
  command.insert(command.end(), 998, "0123456789");
  launch(command, 2);
  expect_end(Outcome::kFailed, "999 arguments, and mpiexec takes at most 998");
}

TEST_F(Surroundings, AsManyArgumentsAsHydraTakesArrive) {
  start();
  std::vector<std::string> command{REPLAY_FAULT_PROGRAM, "count"};
  command.insert(command.end(), 997, "0123456789");
  launch(command, 2);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(file("stdout"), "997 arguments, 9970 bytes\n");
}

TEST_F(Surroundings, AProgramWithBlanksAndQuotesInItsPathRuns) {
  const fs::path folder = directory_ / "it's a \"folder\"";
  fs::create_directory(folder);
  const fs::path program = folder / "my 'program' $HOME `x`";
  fs::copy_file(REPLAY_RANK_PROGRAM, program);
  start();
  launch({program.string(), "talk", "0.1"}, 2);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
}

// ---- environment ----------------------------------------------------------------------------------------------------

TEST_F(Surroundings, NoVariableForAnotherMpiexecReachesOurs) {
  start();
  const fs::path hosts = directory_ / "hosts";
  std::ofstream{hosts} << "a\nb\n";
  live::LaunchOrder job = order({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2);
  job.surroundings = {{"PATH", std::getenv("PATH")},
                      {"HYDRA_LAUNCHER_AUTOFORK", "0"},
                      {"HYDRA_HOST_FILE", hosts.string()},
                      {"HYDRA_IFACE", "eth7"},
                      {"HYDRA_LAUNCHER_EXTRA_ARGS", "-v"},
                      {"HYDRA_USE_DDD", "1"},
                      {"HYDRA_DEBUG", "1"},
                      {"HYDRA_CONFIG_FILE", hosts.string()},
                      {"MPIEXEC_TIMEOUT", "x"},
                      {"MPIEXEC_PORT_RANGE", "x"},
                      {"PMI_RANK", "1"},
                      {"PMI_SPAWNED", "1"},
                      {"PWD", "/nowhere"},
                      {"SLURM_JOB_ID", "1"},
                      {"SLURM_NODELIST", "a,b"},
                      {"PBS_NODEFILE", hosts.string()}};
  job.environment = {{"PMI_SPAWNED", "1"}};
  executor_->launch(job);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_EQ(file("stderr"), "") << "no line of HYDRA_DEBUG";
  EXPECT_FALSE(fs::exists(directory_ / "job" / "note"));
}

TEST_F(Surroundings, AVariableThatNamesADeviceOfTheHostIsLeftOutOfTheJobsNetworkWithANote) {
  options_.network = JobNetwork::kOwn;
  if (why_no_own_network()) GTEST_SKIP() << "no network namespaces";
  start();
  live::LaunchOrder job = order({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 2);
  job.surroundings = {{"PATH", std::getenv("PATH")}, {"UCX_NET_DEVICES", "eth0"}};
  job.environment = {{"UCX_TLS", "tcp"}};
  executor_->launch(job);
  expect_end(Outcome::kCompleted, "");
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_TRUE(file("note").starts_with("jobs do not get UCX_NET_DEVICES=eth0: ")) << file("note");
}

TEST_F(Surroundings, ThreadsThatShareTheCoreOfTheirRankHaveANote) {
  start();
  live::LaunchOrder job = order({REPLAY_RANK_PROGRAM, "talk", "0.1"}, 1);
  job.surroundings = {{"PATH", std::getenv("PATH")}, {"OMP_NUM_THREADS", "1"}};
  job.environment = {{"OMP_NUM_THREADS", "2"}};
  executor_->launch(job);
  expect_end(Outcome::kCompleted, "");
  EXPECT_TRUE(file("note").starts_with("OMP_NUM_THREADS=2: a rank has one core")) << file("note");
}

// ---- the agent ------------------------------------------------------------------------------------------------------

TEST_F(Surroundings, AKilledAgentIsNoticedAndItsJobsAreEnded) {
  for (const Situation situation : {Situation::kShrunk, Situation::kSuspended, Situation::kInit}) {
    seen_ = {};
    start();
    bring_to(situation);
    ASSERT_FALSE(HasFatalFailure());
    const auto begin = Clock::now();
    send_signal(agent_pid_, SIGKILL);
    ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }, 10s)) << situation;
    EXPECT_EQ(its_processes(), std::vector<pid_t>{}) << situation;
    EXPECT_TRUE(fs::is_empty(directory_ / "run")) << situation;
    EXPECT_FALSE(has_ended()) << "an end that was not reported";
    std::cout << "lost after " << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count()
              << " ms: " << *seen_.lost << '\n';
    executor_.reset();
  }
}

TEST_F(Surroundings, AnAgentThatGetsSigtermEndsItsJobs) {
  start();
  bring_to(Situation::kSuspended);
  send_signal(agent_pid_, SIGTERM);
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }, 10s));
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Surroundings, AStoppedAgentDoesNotKeepTheDaemonFromEnding) {
  start();
  bring_to(Situation::kComputing);
  send_signal(agent_pid_, SIGSTOP);
  const auto begin = Clock::now();
  executor_->detach();
  executor_.reset();
  std::cout << "gone after " << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count()
            << " ms\n";
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Surroundings, AStoppedAgentIsNoticedByItsSilence) {
  start();
  bring_to(Situation::kShrunk);
  send_signal(agent_pid_, SIGSTOP);
  const auto begin = Clock::now();
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }, 60s));
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
  EXPECT_NE(seen_.lost->find("not been heard of"), std::string::npos) << *seen_.lost;
  std::cout << "lost after " << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count()
            << " ms: " << *seen_.lost << '\n';
}

// ---- the daemon -----------------------------------------------------------------------------------------------------

/// A process that plays the daemon until it is killed.
class DeadDaemon : public Surroundings {
 protected:
  void play_daemon(Situation situation) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    daemon_ = ::fork();
    if (daemon_ == 0) {
      start();
      bring_to(situation);
      const pid_t answer = HasFatalFailure() ? 0 : agent_pid_;
      (void)!::write(told[1], &answer, sizeof answer);
      while (true) ::pause();
    }
    ::close(told[1]);
    EXPECT_EQ(::read(told[0], &agent_pid_, sizeof agent_pid_), ssize_t{sizeof agent_pid_});
    ::close(told[0]);
    ASSERT_NE(agent_pid_, 0);
    for (const auto& entry : fs::directory_iterator{directory_ / "run"})
      socket_mark_ = "REPLAY_VM_SOCKET=" + (entry.path() / "socket").string();
    ASSERT_GE(its_processes().size(), 4U);  // mpiexec, its proxy, two ranks
    loop_.reset(event_base_new());
  }
  void kill_daemon() const {
    send_signal(daemon_, SIGKILL);
    ::waitpid(daemon_, nullptr, 0);
  }
  void expect_all_gone(const std::string& what) {
    const auto begin = Clock::now();
    EXPECT_TRUE(until([&] { return its_processes().empty(); })) << what;
    std::cout << what << ": all gone after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count() << " ms\n";
  }
  pid_t daemon_ = 0;
};

TEST_F(DeadDaemon, LeavesNothingInWhateverSituationItsJobsWere) {
  for (const Situation situation : {Situation::kInit, Situation::kComputing, Situation::kShrunk, Situation::kSuspended,
                                    Situation::kShrunkAndSuspended}) {
    play_daemon(situation);
    ASSERT_FALSE(HasFatalFailure());
    kill_daemon();
    expect_all_gone(name_of(situation));
    EXPECT_TRUE(until([&] { return fs::is_empty(directory_ / "run"); }));
  }
}

TEST_F(DeadDaemon, AndAStoppedAgentLeaveNothing) {
  play_daemon(Situation::kComputing);
  ASSERT_FALSE(HasFatalFailure());
  send_signal(agent_pid_, SIGSTOP);
  kill_daemon();
  expect_all_gone("agent stopped");
  EXPECT_TRUE(until([&] { return fs::is_empty(directory_ / "run"); }));
}

TEST_F(DeadDaemon, AndADeadAgentLeaveNoProcessAndTheNextAgentRemovesTheRest) {
  play_daemon(Situation::kShrunk);
  ASSERT_FALSE(HasFatalFailure());
  kill_daemon();
  send_signal(agent_pid_, SIGKILL);
  expect_all_gone("agent killed");
  const fs::path left = fs::directory_iterator { directory_ / "run" } -> path();
  const auto has_group = [name = left.filename()] {
    return std::ranges::any_of(own_groups(), [&](const OwnGroup& own) { return fs::exists(own.directory / name); });
  };
  const bool can_make_groups = ControlGroup::make("replay-test-" + std::to_string(::getpid())).has_value();
  EXPECT_EQ(has_group(), can_make_groups);
  start();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(has_group());
}

}  // namespace
}  // namespace replay::launcher
