// Tests of the clean-up of dead agents' directories: it deletes only files that agents put there.
#include "launcher/agent/agent_directory.hpp"

#include <gtest/gtest.h>
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
    return made.path;
  }
  std::vector<fs::path> clean_up() { return remove_stale_agent_directories(base_.path()); }

  TemporaryFolder base_;
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
  EXPECT_TRUE(clean_up().empty());
  EXPECT_TRUE(fs::exists(living.path));
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
  for (const char* marker : {"", "replay agent directory 1\n", "replay agent directory 2\nand more"}) {
    const fs::path folder = base_ / "replay-agent-abc123";
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
    if (*marker != '\0') std::ofstream(folder / "replay-agent") << marker;
    EXPECT_TRUE(clean_up().empty());
    EXPECT_TRUE(fs::exists(folder)) << marker;
    fs::remove_all(folder);
  }
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
