// Tests of reading the quotas of control groups, on small imitations of /proc and /sys.
#include "launcher/os/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

class Cgroup : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << text;
  }
  TemporaryFolder root_;
};

TEST_F(Cgroup, NoControlGroupsMeansNoLimit) { EXPECT_EQ(cgroup_cpu_quota(root_.path()), std::nullopt); }

TEST_F(Cgroup, Version2TakesTheTightestLimitOnTheWayUp) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), 1.5);
  write("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), 0.5);
}

TEST_F(Cgroup, Version1HasTwoFilesAndMinusOneForNoLimit) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,cpuacct:/job\n0::/\n");
  write("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), std::nullopt);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), 4.0);
}

TEST_F(Cgroup, AContainerThatSeesOnlyItsOwnGroupFindsItAtTheMount) {
  write("proc/self/cgroup", "0::/machine/container7\n");
  write("proc/self/mountinfo", "30 23 0:26 /machine/container7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), 2.0);
}

TEST_F(Cgroup, GarbageIsNoLimit) {
  write("proc/self/cgroup", "garbage\n0::/a\n");
  write("proc/self/mountinfo", "short\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/a/cpu.max", "many thanks\n");
  EXPECT_EQ(cgroup_cpu_quota(root_.path()), std::nullopt);
}

}  // namespace
}  // namespace replay::launcher
