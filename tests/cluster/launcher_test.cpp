// Tests of the launcher with real processes: LocalExecutor, its agent, Hydra, vmlib and small MPI programs. Each test
// waits for events with a deadline; none sleeps for a fixed time.
#include <event2/event.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "launcher/os/binding.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST_F(Launcher, AJobRunsAndItsResultIsVerified) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason << file("stderr");
  EXPECT_EQ(its_end().exit_code, 0);
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_GE(its_end().cpu_use, 0.0);
  EXPECT_LE(its_end().cpu_use, 1.0);
  EXPECT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  EXPECT_EQ(seen_.reason.at(kJob), "");
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

// In /dev/shm itself, one that is left by a kill of everything would not be known to be a job's.
TEST_F(Launcher, MpichsFileOfARigidJobIsInTheAgentsFolder) {
  start();
  auto job = order({REPLAY_RANK_PROGRAM, "talk", "20"}, 2);
  job.malleable = false;
  executor_->launch(job);
  const std::string name = agent_directory().filename();
  const std::string folder = "/dev/shm/replay" + name.substr(name.size() - 6);
  std::string maps;
  ASSERT_TRUE(until([&] {
    std::ostringstream text;
    text << std::ifstream{fmt::format("/proc/{}/maps", rank(0))}.rdbuf();
    maps = text.str();
    return maps.find("/dev/shm/mpich_shar_tmp") != std::string::npos || maps.find(folder + "/m") != std::string::npos;
  })) << maps;
  EXPECT_EQ(maps.find("/dev/shm/mpich_shar_tmp"), std::string::npos) << maps;
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_EQ(seen_.reason.at(kJob), "asked to be rigid");
  executor_->end(kJob, Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }));
}

// It may be for a sanitizer, which has to be the first library.
TEST_F(Launcher, AJobWhoseUserSwitchesVmlibOffDoesNotPreloadIt) {
  start();
  auto job = order({"/bin/sh", "-c", "echo \"[$LD_PRELOAD]\""}, 1);
  job.environment = {{"REPLAY_VM_OFF", "1"}};
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(file("stdout"), "[]\n");
  EXPECT_EQ(seen_.reason.contains(kJob) ? seen_.reason.at(kJob) : "REPLAY_VM_OFF is set", "REPLAY_VM_OFF is set");
}

TEST_F(Launcher, TheJobsDirectoryKeepsWhatWasStarted) {
  start();
  auto job = order({"/bin/sh", "-c", "echo \"$GREETING\"; echo oops >&2; read x || echo no stdin"}, 1);
  job.environment = {{"GREETING", "hello 'there'\n  all"}};
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(file("stdout"), "hello 'there'\n  all\nno stdin\n");
  EXPECT_EQ(file("stderr"), "oops\n");
  EXPECT_NE(file("command").find("/bin/sh -c"), std::string::npos);
  EXPECT_EQ(file("environment"), "GREETING='hello '\\''there'\\''\n  all'\n");
}

TEST_F(Launcher, TheKeyIsOnNoCommandLine) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "20"}, 1);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_EQ(file("command").find("REPLAY_VM_KEY"), std::string::npos);
  EXPECT_EQ(file("environment").find("REPLAY_VM_KEY"), std::string::npos);
}

TEST_F(Launcher, AnExitCodeIsReportedAsFailure) {
  start();
  launch({REPLAY_RANK_PROGRAM, "return"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().exit_code, 4);
  EXPECT_NE(its_end().reason.find("exit code 4"), std::string::npos) << its_end().reason;
}

// Hydra's report says then: Hangup (signal 1).
TEST_F(Launcher, AnExitStatusThatMpiexecHasLostIsNoHangup) {
  start();
  launch({REPLAY_RANK_PROGRAM, "lag"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  ASSERT_NE(file("stdout").find("BAD TERMINATION"), std::string::npos) << file("stdout");
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_EQ(its_end().reason.find("Hangup"), std::string::npos) << its_end().reason;
  const bool does_kernel_say = its_end().reason.starts_with("rank 0: exit code 3");
  const bool does_nothing_say = its_end().reason.starts_with("rank 0 ended without MPI_Finalize, and mpiexec does not");
  EXPECT_TRUE(does_kernel_say || does_nothing_say) << its_end().reason;
  EXPECT_TRUE(!does_kernel_say || its_end().exit_code == 3) << its_end().exit_code;
}

TEST_F(Launcher, AWrongResultIsNotedButTheJobCompleted) {
  start();
  launch({REPLAY_RANK_PROGRAM, "wrong"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().verification, Verification::kFailed);
}

TEST_F(Launcher, RanksThatNeverFinalizeMakeAFailureWhateverTheExitCode) {
  start();
  launch({REPLAY_RANK_PROGRAM, "leave"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason, "");
}

TEST_F(Launcher, ACrashNamesRankAndSignal) {
  start();
  launch({REPLAY_RANK_PROGRAM, "crash", "20"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("rank 1"), std::string::npos) << its_end().reason;
  EXPECT_NE(its_end().reason.find("signal 11"), std::string::npos) << its_end().reason;
}

TEST_F(Launcher, AProgramWithoutMpiRunsAsRigid) {
  start();
  launch({"/bin/sleep", "6"}, 1);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_NE(seen_.reason.at(kJob).find("sleep uses no MPI"), std::string::npos) << seen_.reason.at(kJob);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().cpu_use, -1);
}

TEST_F(Launcher, AProgramWithoutMpiThatIsShortJustEnds) {
  start();
  launch({"/bin/true"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_FALSE(has_started());
}

TEST_F(Launcher, WithoutVmlibAJobIsRigidAndRefusesToMove) {
  options_.vmlib = "/nowhere/libreplay-vm.so";
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  EXPECT_FALSE(seen_.started.at(kJob));
  EXPECT_NE(seen_.reason.at(kJob).find("/nowhere/libreplay-vm.so"), std::string::npos) << seen_.reason.at(kJob);
  executor_->resize(kJob, {core(1), core(1)});
  ASSERT_TRUE(until([&] { return !seen_.failed.empty() || seen_.resized > 0; }));
  EXPECT_EQ(seen_.resized, 0);
  tell_to_end();
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, EndingAJobGivesTheOutcomeThatWasAskedFor) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->end(kJob, Outcome::kOverrun);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kOverrun);
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, ASuspendedJobCanBeEnded) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->suspend(kJob);
  executor_->end(kJob, Outcome::kKilled);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kKilled);
}

TEST_F(Launcher, SuspendStopsEveryRankAndResumeGoesOn) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->suspend(kJob);
  ASSERT_TRUE(until([&] { return seen_.suspended == 1; }));
  for (const int number : {0, 1}) {
    const pid_t pid = rank(number);
    EXPECT_TRUE(until([&] { return read_stat(pid).value_or(ProcessStat{}).state == 'T'; })) << "rank " << number;
  }
  executor_->resume(kJob);
  ASSERT_TRUE(until([&] { return seen_.resumed == 1; }));
  tell_to_end();
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, AKilledRankEndsTheJobAsFailed) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  send_signal(rank(1), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_TRUE(its_end().reason == "rank 1: Killed (signal 9)" || its_end().reason == "ranks 0-1: Killed (signal 9)")
      << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AKilledMpiexecLeavesNoRankBehind) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  send_signal(process_named("mpiexec"), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("mpiexec was killed"), std::string::npos) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AKilledProxyEndsTheJobWithinBounds) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  send_signal(process_named("hydra_pmi_proxy"), SIGKILL);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kFailed);
  EXPECT_NE(its_end().reason.find("proxy"), std::string::npos) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, EveryThreadOfEveryRankMovesAndTheResultIsRight) {
  start();
  if (local_.machine.size() < 2) GTEST_SKIP() << "needs two cores";
  launch({REPLAY_RANK_PROGRAM, "talk", "4"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  ASSERT_TRUE(seen_.started.at(kJob)) << seen_.reason.at(kJob);
  const pid_t first = rank(0), second = rank(1);
  EXPECT_TRUE(is_bound(first, local_.pu_of_core[0]));
  EXPECT_TRUE(is_bound(second, local_.pu_of_core[1]));
  EXPECT_GE(threads_of(first).size(), 2U) << "UCX has a thread of its own, or this test proves little";
  std::vector<double> latencies_us;
  for (int moves = 0; moves < 100; ++moves) {
    const std::size_t other = moves % 2 == 0 ? 0 : 1;  // shrink to the first core, expand again
    const auto begin = Clock::now();
    executor_->resize(kJob, {core(0), core(other)});
    ASSERT_TRUE(until([&] { return seen_.resized == moves + 1; })) << "move " << moves;
    latencies_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    ASSERT_TRUE(is_bound(first, local_.pu_of_core[0])) << "move " << moves;
    ASSERT_TRUE(is_bound(second, local_.pu_of_core[other])) << "move " << moves;
  }
  std::ranges::sort(latencies_us);
  std::cout << "resize to answer: median " << latencies_us[50] << " us, p99 " << latencies_us[98] << " us\n";
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_end().verification, Verification::kPassed);
  EXPECT_EQ(seen_.failed, std::vector<std::string>{});
}

TEST_F(Launcher, AResizeGivenBeforeTheStartWaitsForIt) {
  start();
  launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
  executor_->resize(kJob, {core(0), core(0)});
  ASSERT_TRUE(until([&] { return seen_.resized == 1; }));
  EXPECT_TRUE(has_started());
  EXPECT_TRUE(is_bound(rank(1), local_.pu_of_core[0]));
  tell_to_end();
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().verification, Verification::kPassed);
}

TEST_F(Launcher, RanksThatStartOnOneCoreGetThroughQuickly) {
  start();
  auto job = order({REPLAY_RANK_PROGRAM, "talk", "0.2"}, 4);
  std::ranges::fill(job.core_of_rank, core(0));
  executor_->launch(job);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
}

TEST_F(Launcher, ARunningExpandedJobIsMeasured) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "2.5"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  ASSERT_FALSE(seen_.measured.empty());
  EXPECT_GT(seen_.measured.back(), 0.9);
  EXPECT_GT(its_end().cpu_use, 0.9);
}

TEST_F(Launcher, JobsRunSideBySide) {
  start();
  for (int number = 1; number <= 3; ++number) {
    fs::create_directories(directory_ / std::to_string(number));
    auto job = order({REPLAY_RANK_PROGRAM, "talk", "0.3"}, 2, JobId{number});
    job.directory = directory_ / std::to_string(number);
    executor_->launch(job);
  }
  ASSERT_TRUE(until([&] { return seen_.ended.size() == 3; }));
  for (const auto& [id, end] : seen_.ended) EXPECT_EQ(end.outcome, Outcome::kCompleted) << end.reason;
}

TEST_F(Launcher, AStrayBackgroundProcessEndsWithItsJob) {
  start();
  launch({REPLAY_RANK_PROGRAM, "stray"}, 2);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_EQ(its_end().outcome, Outcome::kCompleted) << its_end().reason;
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, AnOrderForAnUnknownJobIsAnsweredByNothing) {
  start();
  executor_->suspend(JobId{99});
  launch({"/bin/true"}, 1);
  ASSERT_TRUE(until([&] { return has_ended(); }));
  EXPECT_TRUE(seen_.failed.empty());
}

TEST_F(Launcher, TheAgentsDeathIsReportedAndCleanedUp) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  send_signal(agent_pid_, SIGKILL);
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }, 10s));
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
  EXPECT_FALSE(has_ended());
}

TEST_F(Launcher, DestroyingTheExecutorEndsTheJobs) {
  start();
  launch({REPLAY_RANK_PROGRAM, "compute", "60"}, 2);
  ASSERT_TRUE(until([&] { return has_started(); }));
  executor_->detach();
  executor_.reset();
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(Launcher, KillingTheDaemonLeavesNothing) {
  for (const bool is_suspended : {false, true}) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {  // plays the daemon until it is killed
      start();
      launch({REPLAY_RANK_PROGRAM, "talk", "60"}, 2);
      bool is_ready = until([&] { return has_started(); });
      if (is_suspended) {
        executor_->suspend(kJob);
        is_ready = is_ready && until([&] { return seen_.suspended == 1; });
      }
      const char answer = is_ready ? 'y' : 'n';
      (void)!::write(told[1], &answer, 1);
      while (true) ::pause();
    }
    ::close(told[1]);
    char answer = 0;
    ASSERT_EQ(::read(told[0], &answer, 1), 1);
    ::close(told[0]);
    EXPECT_EQ(answer, 'y');
    socket_mark_.clear();
    for (const auto& entry : fs::directory_iterator{directory_ / "run"})
      socket_mark_ = "REPLAY_VM_SOCKET=" + (entry.path() / "socket").string();
    EXPECT_GE(its_processes().size(), 4U);  // mpiexec, its proxy, two ranks
    send_signal(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    const auto begin = Clock::now();
    loop_.reset(event_base_new());
    EXPECT_TRUE(until([&] { return fs::is_empty(directory_ / "run") && its_processes().empty(); }));
    std::cout << "all gone after "
              << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count() << " ms\n";
  }
}

}  // namespace
}  // namespace replay::launcher
