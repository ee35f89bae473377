// Tests of making a control group of our own: where one may be made, on small imitations of /proc and /sys; and, where
// this machine allows one, that a process cannot leave it by hiding.
#include "launcher/os/control_group.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

class OurControlGroup : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << text;
  }
  bool exists(const std::string& directory) const { return fs::is_directory(root_ / directory); }
  TemporaryFolder root_;
};

TEST_F(OurControlGroup, IsMadeBelowOurOwnInVersion2AndRemovedWithTheObject) {
  write("proc/self/cgroup", "4:freezer:/\n0::/a\n");
  write("proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
        "30 23 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/unified/a/cgroup.procs", "");
  write("sys/fs/cgroup/unified/a/cgroup.subtree_control", "\n");
  write("sys/fs/cgroup/freezer/cgroup.procs", "");
  {
    const auto group = ControlGroup::make("ours", root_.path());
    ASSERT_TRUE(group);
    EXPECT_TRUE(exists("sys/fs/cgroup/unified/a/ours"));
    const auto below = group->make_below("job");
    ASSERT_TRUE(below);
    EXPECT_TRUE(exists("sys/fs/cgroup/unified/a/ours/job"));
    const auto second = ControlGroup::make("ours", root_.path());  // the name is taken in the first hierarchy
    EXPECT_TRUE(exists("sys/fs/cgroup/freezer/ours"));
  }
  EXPECT_FALSE(exists("sys/fs/cgroup/unified/a/ours"));
}

TEST_F(OurControlGroup, IsNotMadeWhereItWouldGetAShareOfTheCpuOfItsOwn) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/\n5:memory:/\n0::/a\n");
  write("proc/self/mountinfo",
        "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "30 23 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/unified/a/cgroup.procs", "");
  write("sys/fs/cgroup/unified/a/cgroup.subtree_control", "cpu memory\n");
  write("sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "");
  write("sys/fs/cgroup/memory/cgroup.procs", "");
  EXPECT_FALSE(ControlGroup::make("ours", root_.path()));
}

TEST_F(OurControlGroup, IsMadeInATreeOfVersion1ThatSharesNothingOut) {
  write("proc/self/cgroup", "9:name=systemd:/user\n");
  write("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n");
  write("sys/fs/cgroup/systemd/user/cgroup.procs", "");
  const auto group = ControlGroup::make("ours", root_.path());
  ASSERT_TRUE(group);
  EXPECT_TRUE(exists("sys/fs/cgroup/systemd/user/ours"));
}

TEST_F(OurControlGroup, OfDeadOnesTheEmptyAreRemovedWhateverBecameOfTheirMakers) {
  write("proc/self/cgroup", "0::/a\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  const std::string own = "sys/fs/cgroup/a/";
  write(own + "cgroup.procs", "");
  const auto living = ControlGroup::make("ours-living", root_.path());
  ASSERT_TRUE(living);
  fs::create_directories(root_ / (own + "ours-dead/job-1"));
  fs::create_directories(root_ / (own + "another"));
  write(own + "ours-used/job-1/cgroup.procs", "1\n");  // as one with a process in it, it cannot be removed
  ControlGroup::remove_empty_ones_of_dead([](std::string_view name) { return name.starts_with("ours-"); },
                                          root_.path());
  EXPECT_FALSE(exists(own + "ours-dead"));
  for (const char* kept : {"ours-living", "ours-used/job-1", "another"}) EXPECT_TRUE(exists(own + kept)) << kept;
}

TEST_F(OurControlGroup, WithoutControlGroupsThereIsNone) {
  EXPECT_FALSE(ControlGroup::make("ours", root_.path()));
  EXPECT_FALSE(ControlGroup::find("ours", root_.path()));
}

TEST(RealControlGroup, KeepsAProcessThatHidesAndIsFoundByItsNameAgain) {
  const std::string name = "replay-test-" + std::to_string(::getpid());
  auto group = ControlGroup::make(name);
  if (!group) GTEST_SKIP() << "no control group can be made here";
  int hidden_pid[2];
  ASSERT_EQ(::pipe(hidden_pid), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char go = 0;
    while (::read(hidden_pid[0], &go, 1) != 1) continue;
    if (::fork() == 0) {
      ::setsid();
      const pid_t hidden = ::fork();
      if (hidden == 0) {
        static char* const nothing[] = {nullptr};
        ::execle("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr), nothing);
      }
      ::_exit(0);
    }
    ::_exit(0);
  }
  ASSERT_TRUE(group->take_with_all_below(*Process::open(child)));
  EXPECT_EQ(group->processes(), std::vector<pid_t>{child});
  ASSERT_EQ(::write(hidden_pid[1], "g", 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto is_alone_and_hidden = [&] {
    const auto inside = group->processes();
    return inside.size() == 1 && read_stat(inside.front()).value_or(ProcessStat{}).name == "sleep";
  };
  for (int tries = 0; tries < 2000 && !is_alone_and_hidden(); ++tries) ::usleep(10'000);
  ASSERT_TRUE(is_alone_and_hidden());

  group.reset();  // leaves the group in place, because a process is in it
  const auto again = ControlGroup::find(name);
  ASSERT_TRUE(again);
  for (const pid_t pid : again->processes())
    if (const auto process = Process::open(pid)) process->signal(SIGKILL);
  for (int tries = 0; tries < 2000 && !again->processes().empty(); ++tries) ::usleep(10'000);
  EXPECT_EQ(again->processes(), std::vector<pid_t>{});
  ::close(hidden_pid[0]);
  ::close(hidden_pid[1]);
}

}  // namespace
}  // namespace replay::launcher
