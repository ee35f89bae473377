// Daemon and agent are killed together, at any moment of a job's life and with any of the helpers that would have cleaned
// up: before the next agent can start a job, no process of the old one is left, and no file of theirs in /dev/shm.
// REPLAY_LEFT_ROUNDS and REPLAY_LEFT_SEED choose how often and from where.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"
#include "tests/support/launcher_fixture.hpp"
#include "tests/support/random.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class LeftProcesses : public Launcher {
 protected:
  using Random = std::mt19937;
  static unsigned below(Random& random, unsigned limit) { return static_cast<unsigned>(random()) % limit; }

  /// Plays the daemon: starts a job, and returns when a random moment of its life has come.
  void be_daemon(Random random) {
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
  }

  /// Forks a daemon that plays until it waits to be killed.
  void start_both(const std::function<void()>& play) {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    daemon_ = ::fork();
    if (daemon_ == 0) {
      play();
      (void)!::write(told[1], &agent_pid_, sizeof agent_pid_);
      while (true) ::pause();
    }
    ASSERT_GT(daemon_, 0);
    ::close(told[1]);
    ASSERT_EQ(::read(told[0], &agent_pid_, sizeof agent_pid_), static_cast<ssize_t>(sizeof agent_pid_));
    ::close(told[0]);
  }

  void kill_both() {
    const auto killed = Process::open(agent_pid_);
    ASSERT_TRUE(killed);
    killed->signal(SIGKILL);
    send_signal(daemon_, SIGKILL);
    pollfd gone{killed->pidfd(), POLLIN, 0};
    ASSERT_EQ(::poll(&gone, 1, 5000), 1);
    ::waitpid(std::exchange(daemon_, 0), nullptr, 0);
  }

  void kill_both_at_a_random_moment(Random& random) {
    start_both([&] { be_daemon(random); });
    ASSERT_FALSE(HasFatalFailure());
    for (const auto& entry : fs::directory_iterator{directory_ / "run"})
      old_mark_ = "REPLAY_VM_SOCKET=" + (entry.path() / "socket").string();
    const bool stops_mpiexec = below(random, 3) == 0;
    for (const pid_t pid : descendants_of(agent_pid_)) {
      const auto stat = read_stat(pid);
      const auto process = Process::open(pid);
      if (!stat || !process) continue;
      if (stat->name == "replay-guard") process->signal(SIGKILL);
      if (stat->name == "mpiexec" && stops_mpiexec) process->signal(SIGSTOP);
    }
    kill_both();
  }

  /// Starts a job whose rank has made its files in /dev/shm, and mapped none yet.
  void start_in_the_middle_of_mpi_init() {
    start();
    launch({REPLAY_RANK_PROGRAM, "share"}, 1);
    (void)until([&] { return !file("made").empty(); });
  }
  [[nodiscard]] std::vector<fs::path> shared_files() const {
    std::istringstream names{file("made")};
    return {std::istream_iterator<std::string>{names}, {}};
  }
  [[nodiscard]] bool is_any_there() const {
    return std::ranges::any_of(shared_files(), [](const fs::path& name) { return fs::exists(name); });
  }

  void TearDown() override {
    if (daemon_ > 0 && ::waitpid(daemon_, nullptr, WNOHANG) == 0) kill_both();
    Launcher::TearDown();
  }

  pid_t daemon_ = 0;
  std::string old_mark_;
};

TEST_F(LeftProcesses, AreEndedBeforeTheNextAgentStartsAJob) {
  const unsigned rounds = static_cast<unsigned>(test::number_from("REPLAY_LEFT_ROUNDS", 6));
  const unsigned seed = static_cast<unsigned>(test::number_from("REPLAY_LEFT_SEED", 1));
  unsigned left = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    Random random{seed * 1000 + round};
    kill_both_at_a_random_moment(random);
    ASSERT_FALSE(HasFatalFailure());
    left += processes_with(old_mark_).empty() ? 0U : 1U;
    const AgentHandle next = start_agent(options_);
    ASSERT_EQ(processes_with(old_mark_).size(), 0U);
  }
  RecordProperty("rounds_with_processes_left", static_cast<int>(left));
  EXPECT_GT(left, 0U) << "nothing was left for the next agent in any round";
}

TEST_F(LeftProcesses, TheirFilesInSharedMemoryAreRemovedBeforeTheNextAgentStartsAJob) {
  start_both([this] { start_in_the_middle_of_mpi_init(); });
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_EQ(shared_files().size(), 2U);
  ASSERT_TRUE(is_any_there());
  std::vector<Process> others;
  for (const pid_t pid : descendants_of(agent_pid_))
    if (auto process = Process::open(pid)) others.push_back(std::move(*process));
  kill_both();
  ASSERT_FALSE(HasFatalFailure());
  for (const Process& process : others) process.signal(SIGKILL);
  const AgentHandle next = start_agent(options_);
  for (const fs::path& name : shared_files()) EXPECT_FALSE(fs::exists(name)) << name;
  EXPECT_FALSE(fs::exists(shared_files().front().parent_path())) << "the folder of the dead agent";
}

TEST_F(LeftProcesses, TheirFilesInSharedMemoryAreRemovedWithTheirJob) {
  start_in_the_middle_of_mpi_init();
  ASSERT_EQ(shared_files().size(), 2U);
  executor_->end(kJob, Outcome::kCancelled);
  ASSERT_TRUE(until([this] { return has_ended(); }));
  for (const fs::path& name : shared_files()) EXPECT_FALSE(fs::exists(name)) << name;
}

}  // namespace
}  // namespace replay::launcher
