// Tests of the clean-up of dead agents' directories: it deletes only files that agents put there.
#include "launcher/agent/agent_directory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"
#include "scheduler/base/process/send_signal.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

class AgentDirectories : public testing::Test {
 protected:
  /// A directory as a killed agent leaves it.
  fs::path dead() {
    const AgentDirectory made = make_agent_directory(base_.path());
    std::ofstream(made.path / kAgentSocket) << "";
    shared_.push_back(made.shared);
    return made.path;
  }
  void TearDown() override {
    for (const fs::path& folder : shared_) fs::remove_all(folder);
  }
  std::vector<fs::path> clean_up() { return remove_stale_agent_directories(base_.path()); }

  TemporaryFolder base_;
  std::vector<fs::path> shared_;  ///< of those that dead() has made
};

TEST_F(AgentDirectories, ADeadAgentsIsDeleted) {
  const fs::path left = dead();
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(left));
}

// In execve() it shows neither the old environment nor the new one.
TEST_F(AgentDirectories, AProcessOfADeadAgentThatStartsProgramsAllTheTimeIsEnded) {
  const fs::path program = base_ / "again.sh";
  std::ofstream(program) << "#!/bin/sh\nexec \"$0\"\n";
  fs::permissions(program, fs::perms::owner_all);
  for (int round = 0; round < 30; ++round) {
    const std::string mark = "REPLAY_VM_SOCKET=" + (dead() / kAgentSocket).string();
    const pid_t child = ::fork();
    if (child == 0) {
      char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
      char* const environment[] = {const_cast<char*>(mark.c_str()), nullptr};
      ::execve(program.c_str(), arguments, environment);
      ::_exit(1);
    }
    while (!environment_has(child, mark)) ::usleep(100);
    EXPECT_TRUE(clean_up().empty());
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), child) << "it lives, in round " << round;
    EXPECT_TRUE(WIFSIGNALED(status));
  }
}

TEST_F(AgentDirectories, AProcessThatWasStartedWithoutEnvironmentHoldsNoCleanUpUp) {
  const pid_t child = ::fork();
  if (child == 0) {
    char name[] = "sleep", time[] = "100";
    char* const arguments[] = {name, time, nullptr};
    char* const environment[] = {nullptr};
    ::execve("/bin/sleep", arguments, environment);
    ::_exit(1);
  }
  while (read_stat(child).value().name != "sleep") ::usleep(1000);
  const auto is_in_execve = [child] {
    const std::vector<pid_t> starting = find_processes_with("A=B").in_execve;
    return std::ranges::find(starting, child) != starting.end();
  };
  while (is_in_execve()) ::usleep(1000);
  for (int looks = 0; looks < 100; ++looks) ASSERT_FALSE(is_in_execve());
  const fs::path left = dead();
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it is not ours to end";
  send_signal(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(AgentDirectories, ALivingAgentsIsKept) {
  const AgentDirectory living = make_agent_directory(base_.path());
  shared_.push_back(living.shared);
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(living.path) && fs::exists(living.shared));
}

// The child of an agent that was killed between its fork and its exec.
TEST_F(AgentDirectories, ADeadAgentsIsDeletedThoughAChildOfItHoldsTheLockForAMomentMore) {
  const fs::path left = [&] {
    const AgentDirectory made = make_agent_directory(base_.path());
    shared_.push_back(made.shared);
    const pid_t agent = ::fork();
    if (agent == 0) {
      mark_as_living(made);
      if (::fork() == 0) ::usleep(100'000);
      ::_exit(0);
    }
    ::waitpid(agent, nullptr, 0);
    return made.path;
  }();
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(left) || fs::exists(shared_.back()));
}

TEST_F(AgentDirectories, TheMarkOfALivingAgentIsSeenAtOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const AgentDirectory living = make_agent_directory(base_.path());
  shared_.push_back(living.shared);
  const pid_t agent = ::fork();
  if (agent == 0) {
    mark_as_living(living);
    ::close(ends[1]);
    ::pause();
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_TRUE(clean_up().empty());
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 50) << "it does not wait for the lock, which takes 100 naps";
  EXPECT_TRUE(fs::exists(living.path) && fs::exists(living.shared));
  send_signal(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
}

TEST_F(AgentDirectories, TheFolderInSharedMemoryIsDeletedWithWhatRanksHaveLeftThere) {
  (void)dead();
  ASSERT_TRUE(fs::exists(shared_.front()));
  for (const char* name : {"mqqLCyH", "ucx_shm_posix_2007649a"}) std::ofstream(shared_.front() / name) << "";
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(shared_.front()));
}

TEST_F(AgentDirectories, TheFolderOfAnAgentThatWasKilledAsItMadeItIsDeletedIfItIsEmpty) {
  (void)dead();
  (void)dead();
  for (const fs::path& folder : shared_) fs::remove(folder / "replay-agent");
  std::ofstream(shared_.back() / "mqqLCyH") << "";
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(shared_.front()));
  EXPECT_TRUE(fs::exists(shared_.back() / "mqqLCyH")) << "without our marker it is nobody's";
}

TEST_F(AgentDirectories, AFolderInSharedMemoryWithAnythingUnknownInItIsKeptWholeAndTheEntryIsNamed) {
  for (const char* name : {"data", "m", "mlonger0", "ucx_shm_posix_", "mqqLC.H"}) {
    const fs::path left = dead(), shared = shared_.back();
    std::ofstream(shared / "mqqLCyH") << "";
    std::ofstream(shared / name) << "";
    EXPECT_EQ(clean_up(), (std::vector<fs::path>{shared / name}));
    EXPECT_TRUE(fs::exists(shared / "mqqLCyH") && fs::exists(shared / "replay-agent"));
    EXPECT_TRUE(fs::exists(left));
    fs::remove(shared / name);
    EXPECT_TRUE(clean_up().empty());
    EXPECT_FALSE(fs::exists(shared) || fs::exists(left));
  }
}

TEST_F(AgentDirectories, AFolderInSharedMemoryThatIsNotOursIsKept) {
  const fs::path precious = base_ / "precious";
  fs::create_directory(precious);
  std::ofstream(precious / "mqqLCyH") << "";
  (void)dead();
  (void)dead();
  fs::remove_all(shared_[0]);
  fs::create_directory_symlink(precious, shared_[0]);
  fs::permissions(shared_[1], fs::perms::owner_all | fs::perms::group_read);
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::is_symlink(shared_[0]) && fs::exists(precious / "mqqLCyH"));
  EXPECT_TRUE(fs::exists(shared_[1]));
}

TEST_F(AgentDirectories, AUsersFolderOfASimilarNameIsKept) {
  const fs::path results = base_ / "replay-agent-results";
  fs::create_directories(results / "run1");
  fs::permissions(results, fs::perms::owner_all);
  std::ofstream(results / "run1" / "data.csv") << "1\n";
  fs::copy_file(dead() / "replay-agent", results / "replay-agent");
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(results / "run1" / "data.csv"));
}

TEST_F(AgentDirectories, WithoutOurMarkerItIsKept) {
  for (const char* marker : {"replay agent directory 1\n", "replay agent directory 2\nand more"}) {
    const fs::path folder = base_ / "replay-agent-abc123";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    std::ofstream(folder / "replay-agent") << marker;
    EXPECT_TRUE(clean_up().empty());
    EXPECT_TRUE(fs::exists(folder)) << marker;
    fs::remove_all(folder);
  }
}

// As one leaves it that is killed as it makes or removes it.
TEST_F(AgentDirectories, AnEmptyOneIsDeletedUnlessItIsLocked) {
  const fs::path left = dead();
  for (const char* entry : {"replay-agent", kAgentSocket}) fs::remove(left / entry);
  const AgentDirectory living = make_agent_directory(base_.path());
  shared_.push_back(living.shared);
  fs::remove(living.path / "replay-agent");
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(left) || fs::exists(shared_.front()));
  EXPECT_TRUE(fs::exists(living.path));
}

TEST_F(AgentDirectories, AMarkerThatIsALinkIsNone) {
  const fs::path folder = dead();
  fs::rename(folder / "replay-agent", base_ / "marker");
  fs::create_symlink(base_ / "marker", folder / "replay-agent");
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(folder));
}

TEST_F(AgentDirectories, OneThatOthersMayEnterIsKept) {
  const fs::path folder = dead();
  fs::permissions(folder, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(folder / kAgentSocket));
}

TEST_F(AgentDirectories, AnotherUsersIsKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const fs::path folder = dead();
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(folder / kAgentSocket));
}

TEST_F(AgentDirectories, OneWithAnythingUnknownInItIsKeptWholeAndTheEntryIsNamed) {
  const fs::path folder = dead();
  fs::create_directory(folder / "results");
  std::ofstream(folder / "results" / "data.csv") << "1\n";
  EXPECT_EQ(clean_up(), (std::vector<fs::path>{folder / "results"}));
  EXPECT_TRUE(fs::exists(folder / "results" / "data.csv"));
  EXPECT_TRUE(fs::exists(folder / kAgentSocket)) << "and nothing else of it is deleted";
  EXPECT_EQ(remove_agent_directory(folder), folder / "results") << "by the agent itself neither";
}

TEST_F(AgentDirectories, LinksAreDeletedAndNotFollowed) {
  const fs::path precious = base_ / "precious";
  fs::create_directory(precious);
  std::ofstream(precious / "data.csv") << "1\n";
  const fs::path folder = dead();
  fs::remove(folder / kAgentSocket);
  fs::create_directory_symlink(precious, folder / kAgentSocket);
  fs::create_symlink(precious / "data.csv", folder / kAgentVmlibLink);
  const fs::path linked = base_ / "replay-agent-linked";
  fs::rename(dead(), base_ / "elsewhere");
  fs::create_directory_symlink(base_ / "elsewhere", linked);
  EXPECT_TRUE(clean_up().empty());
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(precious / "data.csv"));
  EXPECT_TRUE(fs::is_symlink(linked));
  EXPECT_TRUE(fs::exists(base_ / "elsewhere" / kAgentSocket));
}

TEST_F(AgentDirectories, AFolderUnderAKnownNameIsNotEmptied) {
  const fs::path folder = dead();
  fs::remove(folder / kAgentSocket);
  fs::create_directory(folder / kAgentSocket);
  std::ofstream(folder / kAgentSocket / "data.csv") << "1\n";
  EXPECT_EQ(clean_up(), (std::vector<fs::path>{folder / kAgentSocket}));
  EXPECT_TRUE(fs::exists(folder / kAgentSocket / "data.csv"));
}

}  // namespace
}  // namespace replay::launcher
