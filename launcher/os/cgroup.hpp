// The control groups that this process is in, and how many cores' worth of time they grant: containers limit time
// rather than cores, and a process per core would then be throttled as a whole, which no schedule could explain.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace replay::launcher {

/// This process's place in one tree of control groups.
struct OwnGroup {
  std::filesystem::path mount;      ///< where the tree is mounted
  std::filesystem::path directory;  ///< of our group in it
  bool is_version2 = false;
  std::string controllers;  ///< of version 1: "cpu,cpuacct", "name=systemd"
};
/// One for each mounted tree, in the order of /proc/self/cgroup. `root` is "/" but in tests.
[[nodiscard]] std::vector<OwnGroup> own_groups(const std::filesystem::path& root = "/");

/// The tightest limit between this process's group and the root, as a number of cores (1.5: one and a half). Version 2
/// (cpu.max) and version 1 (cpu.cfs_quota_us). Nothing: no limit, or no control groups. `root` is "/" but in tests.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root = "/");

}  // namespace replay::launcher
