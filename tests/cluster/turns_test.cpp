// Tests of real jobs that take turns on the same cores: both end with the right result, whatever is done to the one that
// is stopped takes effect as if it ran, and nothing stays stopped, not even when agent and daemon are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/os/binding.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/cores_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class JobsInTurns : public SharedCores {
 protected:
  void SetUp() override {
    SharedCores::SetUp();
    options_.turn = 10ms;
  }
  static std::vector<std::string> talk(const char* seconds) { return {REPLAY_RANK_PROGRAM, "talk", seconds}; }

  /// Both jobs on core 0, or each with a rank on cores 0 and 1 where there are two.
  void start_both(const char* first, const char* second) {
    start();
    const std::vector<int> cores{0, number(core(1))};
    launch_on(kFirst, talk(first), cores);
    launch_on(kSecond, talk(second), cores);
    ASSERT_TRUE(starts(kFirst) && starts(kSecond));
    for (const JobId job : {kFirst, kSecond}) ASSERT_TRUE(is_seen_stopped(job));
  }
  static int number(CoreId core) { return static_cast<int>(core); }
  pid_t rank_of(JobId job, std::uint32_t rank) const { return slot(job, rank).report.pid; }
  bool are_ranks_stopped(JobId job) const { return is_stopped(rank_of(job, 0)) && is_stopped(rank_of(job, 1)); }
  /// Waits for the job to be off turn.
  bool is_seen_stopped(JobId job) {
    const auto deadline = std::chrono::steady_clock::now() + 15s;
    while (std::chrono::steady_clock::now() < deadline)
      if (are_ranks_stopped(job)) return true;
    return false;
  }
  /// Whether it runs for so long without being stopped.
  bool runs_all_the_time(JobId job, std::chrono::milliseconds length) const {
    const auto deadline = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < deadline)
      if (is_stopped(rank_of(job, 0)) || is_stopped(rank_of(job, 1))) return false;
    return true;
  }
  /// Of this time, 0..1.
  double share_stopped(JobId job, std::chrono::milliseconds length) const {
    const auto deadline = std::chrono::steady_clock::now() + length;
    int looks = 0, stopped = 0;
    for (; std::chrono::steady_clock::now() < deadline; ++looks, ::usleep(1000))
      stopped += is_stopped(rank_of(job, 0)) ? 1 : 0;
    return static_cast<double>(stopped) / std::max(looks, 1);
  }
  void end(JobId job) {
    executor_->end(job, Outcome::kKilled);
    ASSERT_TRUE(ends(job));
  }
};

TEST_F(JobsInTurns, BothAreRightAndNeitherIsToldThatItShares) {
  start_both("60", "60");
  EXPECT_TRUE(until([&] { return are_ranks_stopped(kFirst) && slot(kSecond, 0).orders.shared == 0; }));
  EXPECT_TRUE(until([&] { return are_ranks_stopped(kSecond) && slot(kFirst, 0).orders.shared == 0; }));
  finish_verified(kFirst);
  finish_verified(kSecond);
  EXPECT_TRUE(until([&] { return its_processes().empty(); }));
}

TEST_F(JobsInTurns, TheStoppedOneEndsAsOrderedAndTheOtherGoesOnAlone) {
  for (const JobId victim : {kFirst, kSecond}) {
    const JobId other = victim == kFirst ? kSecond : kFirst;
    seen_ = {};
    start_both("60", "60");
    ASSERT_TRUE(is_seen_stopped(victim));
    end(victim);
    EXPECT_NE(seen_.ended.at(victim).exit_code, 128 + SIGKILL) << "SIGTERM was in vain";
    EXPECT_EQ(seen_.ended.at(victim).outcome, Outcome::kKilled);
    EXPECT_EQ(seen_.ended.at(victim).reason, "") << "as if it had been stopped from outside";
    EXPECT_TRUE(runs_all_the_time(other, 200ms));
    end(other);
    EXPECT_EQ(seen_.ended.at(other).reason, "");
    executor_.reset();
  }
}

TEST_F(JobsInTurns, ARankThatIsKilledWhileItIsStoppedEndsItsJobOnly) {
  start_both("60", "60");
  ASSERT_TRUE(is_seen_stopped(kFirst));
  send_signal(rank_of(kFirst, 1), SIGKILL);
  ASSERT_TRUE(until([&] { return seen_.ended.contains(kFirst); }));
  EXPECT_EQ(seen_.ended.at(kFirst).outcome, Outcome::kFailed);
  EXPECT_EQ(seen_.ended.at(kFirst).reason.find("mpiexec did not notice"), std::string::npos)
      << seen_.ended.at(kFirst).reason;
  finish_verified(kSecond);
}

TEST_F(JobsInTurns, ASuspendedJobStaysStoppedAndHasTurnsAgainWhenItIsResumed) {
  start_both("60", "60");
  for (int round = 1; round <= 5; ++round) {
    executor_->suspend(kFirst);
    ASSERT_TRUE(until([&] { return seen_.suspended == round; }));
    EXPECT_TRUE(runs_all_the_time(kSecond, 50ms));
    EXPECT_TRUE(are_ranks_stopped(kFirst));
    executor_->resume(kFirst);
    ASSERT_TRUE(until([&] { return seen_.resumed == round; }));
    EXPECT_TRUE(is_seen_stopped(kSecond));
    EXPECT_TRUE(is_seen_stopped(kFirst));
  }
  executor_->suspend(kFirst);
  ASSERT_TRUE(until([&] { return seen_.suspended == 6; }));
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, AStoppedJobIsMovedAndRunsOnCoresOfItsOwn) {
  start();
  if (local_.machine.size() < 2) GTEST_SKIP() << "needs two cores";
  launch_on(kFirst, talk("60"), {0, 0});
  launch_on(kSecond, talk("60"), {0, 0});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(is_seen_stopped(kSecond));
    ASSERT_TRUE(moves(kSecond, {1, 1}));
    EXPECT_TRUE(is_bound(rank_of(kSecond, 1), pu_of(1)));
    EXPECT_TRUE(runs_all_the_time(kFirst, 40ms) && runs_all_the_time(kSecond, 40ms));
    ASSERT_TRUE(moves(kSecond, {0, 0}));
  }
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, AJobWhoseRanksAllWaitLendsItsCores) {
  start();
  const std::vector<int> cores{0, number(core(1))};
  launch_on(kFirst, {REPLAY_RANK_PROGRAM, "doze", "60"}, cores);
  launch_on(kSecond, talk("60"), cores);
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  // A rank that others keep from its core looks as if it had work; then its job has the cores for a moment.
  EXPECT_TRUE(until([&] { return share_stopped(kSecond, 300ms) < 0.2 && share_stopped(kFirst, 300ms) < 0.2; }))
      << "they take turns, although the first one has nothing to do";
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, JobsThatSleepInShortPortionsRunTogether) {
  start();
  const std::vector<int> cores{0, number(core(1))};
  for (const JobId job : {kFirst, kSecond})
    launch_on(job, {REPLAY_PHASES, "--runtime", "60", "--cpu-use", "0.4"}, cores);
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  EXPECT_TRUE(until([&] { return share_stopped(kFirst, 500ms) == 0 && share_stopped(kSecond, 500ms) == 0; }));
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, JobsThatAreRigidTakeTurnsToo) {
  options_.vmlib.clear();
  start();
  launch_on(kFirst, {REPLAY_RANK_PROGRAM, "compute", "60"}, {0});
  launch_on(kSecond, {REPLAY_RANK_PROGRAM, "compute", "60"}, {0});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  std::vector<pid_t> ranks;
  for (const pid_t pid : its_processes())
    if (environment_has(pid, "PMI_RANK=0")) ranks.push_back(pid);
  ASSERT_EQ(ranks.size(), 2U);
  for (const pid_t pid : ranks) EXPECT_TRUE(until([&] { return is_stopped(pid); }));
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, WithoutTurnsNeitherIsStopped) {
  options_.turn = 0ms;
  start();
  launch_on(kFirst, talk("60"), {0, 0});
  launch_on(kSecond, talk("60"), {0, 0});
  ASSERT_TRUE(starts(kFirst) && starts(kSecond));
  EXPECT_TRUE(runs_all_the_time(kFirst, 50ms) && runs_all_the_time(kSecond, 50ms));
  end(kFirst);
  end(kSecond);
}

TEST_F(JobsInTurns, AnAgentThatIsKilledLeavesNothing) {
  start_both("60", "60");
  send_signal(agent_pid_, SIGKILL);
  ASSERT_TRUE(until([&] { return seen_.lost.has_value(); }));
  executor_.reset();
  EXPECT_EQ(its_processes(), std::vector<pid_t>{});
}

TEST_F(JobsInTurns, WhenAgentAndDaemonAreKilledTheStoppedRanksAreContinuedAndEnd) {
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    start_both("60", "60");
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
  ASSERT_GE(its_processes().size(), 8U);  // of each job mpiexec, its proxy, two ranks
  loop_.reset(event_base_new());
  send_signal(agent_pid_, SIGKILL);
  send_signal(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  EXPECT_TRUE(until([&] { return its_processes().empty(); })) << its_processes().size() << " left";
  start();  // removes the dead agent's directory
}

}  // namespace
}  // namespace replay::launcher
