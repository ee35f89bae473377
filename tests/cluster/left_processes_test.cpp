// Daemon and agent are killed together, at any moment of a job's life and with any of the helpers that would have cleaned
// up: before the next agent can start a job, no process of the old one is left. REPLAY_LEFT_ROUNDS and REPLAY_LEFT_SEED
// choose how often and from where.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/launcher_fixture.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

class LeftProcesses : public Launcher {
 protected:
  using Random = std::mt19937;
  static unsigned below(Random& random, unsigned limit) { return static_cast<unsigned>(random()) % limit; }

  /// Plays the daemon: starts a job, tells the agent's number when a random moment of its life has come, and waits.
  [[noreturn]] void be_daemon(Random random, int tell) {
    const char* const programs[] = {"talk", "compute", "stray"};
    start();
    launch({REPLAY_RANK_PROGRAM, programs[below(random, 3)], "300"}, 2);
    if (below(random, 2) == 0) {
      (void)until([&] { return its_processes().size() > below(random, 5); }, 5s);  // up to MPI_Init
    } else {
      (void)until([&] { return has_started() || has_ended(); });
      executor_->suspend(kJob);  // starts no guard, and mpiexec's SIGTERM does not reach a stopped rank
      if (below(random, 2) == 0) (void)until([&] { return seen_.suspended == 1 || has_ended(); });
    }
    (void)!::write(tell, &agent_pid_, sizeof agent_pid_);
    while (true) ::pause();
  }

  void kill_both(Random& random) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) be_daemon(random, told[1]);
    ASSERT_GT(daemon, 0);
    ::close(told[1]);
    pid_t agent = 0;
    ASSERT_EQ(::read(told[0], &agent, sizeof agent), static_cast<ssize_t>(sizeof agent));
    ::close(told[0]);
    for (const auto& entry : fs::directory_iterator{directory_ / "run"})
      old_mark_ = "REPLAY_VM_SOCKET=" + (entry.path() / "socket").string();
    const bool stops_mpiexec = below(random, 3) == 0;
    for (const pid_t pid : descendants_of(agent)) {
      const auto stat = read_stat(pid);
      const auto process = Process::open(pid);
      if (!stat || !process) continue;
      if (stat->name == "replay-guard") process->signal(SIGKILL);
      if (stat->name == "mpiexec" && stops_mpiexec) process->signal(SIGSTOP);
    }
    const auto killed = Process::open(agent);
    ASSERT_TRUE(killed);
    killed->signal(SIGKILL);
    send_signal(daemon, SIGKILL);
    pollfd gone{killed->pidfd(), POLLIN, 0};
    ASSERT_EQ(::poll(&gone, 1, 5000), 1);
    ::waitpid(daemon, nullptr, 0);
  }

  std::string old_mark_;
};

TEST_F(LeftProcesses, AreEndedBeforeTheNextAgentStartsAJob) {
  const unsigned rounds = number_in("REPLAY_LEFT_ROUNDS", 6);
  const unsigned seed = number_in("REPLAY_LEFT_SEED", 1);
  unsigned left = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    Random random{seed * 1000 + round};
    kill_both(random);
    ASSERT_FALSE(HasFatalFailure());
    left += processes_with(old_mark_).empty() ? 0U : 1U;
    const AgentHandle next = start_agent(options_);
    ASSERT_EQ(processes_with(old_mark_).size(), 0U);
  }
  RecordProperty("rounds_with_processes_left", static_cast<int>(left));
  EXPECT_GT(left, 0U) << "nothing was left for the next agent in any round";
}

}  // namespace
}  // namespace replay::launcher
