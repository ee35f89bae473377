#include "launcher/os/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

bool lists(std::string_view comma_list, std::string_view word) {
  std::istringstream items{std::string{comma_list}};
  for (std::string item; std::getline(items, item, ',');)
    if (item == word) return true;
  return false;
}

/// A mount of /proc/self/mountinfo: "36 35 98:0 /root /mount/point opts ... - type source superopts".
struct Mount {
  std::string root, point, type, options;
};

std::vector<Mount> read_mounts(const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream file{root / "proc/self/mountinfo"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    Mount mount;
    std::string skip;
    std::istringstream{line.substr(0, dash)} >> skip >> skip >> skip >> mount.root >> mount.point;
    std::istringstream{line.substr(dash + 3)} >> mount.type >> skip >> mount.options;
    mounts.push_back(mount);
  }
  return mounts;
}

/// Whether the tree with these controllers (none: version 2) is mounted here.
bool is_mount_of(const Mount& mount, const std::string& controllers) {
  if (controllers.empty()) return mount.type == "cgroup2";
  return mount.type == "cgroup" && lists(mount.options, controllers.substr(0, controllers.find(',')));
}

std::optional<double> quota_of(const fs::path& group, bool version2) {
  std::string quota = "max";
  double period = 0;
  if (version2) {
    std::ifstream{group / "cpu.max"} >> quota >> period;
  } else {
    std::ifstream{group / "cpu.cfs_quota_us"} >> quota;
    std::ifstream{group / "cpu.cfs_period_us"} >> period;
  }
  double granted = -1;
  std::istringstream{quota} >> granted;  // "max" leaves 0, version 1 says -1 for no limit
  if (granted <= 0 || period <= 0) return std::nullopt;
  return granted / period;
}

}  // namespace

/// /proc/self/cgroup: "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1.
std::vector<OwnGroup> own_groups(const fs::path& root) {
  const std::vector<Mount> mounts = read_mounts(root);
  std::vector<OwnGroup> found;
  std::ifstream file{root / "proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const auto mount = std::ranges::find_if(mounts, [&](const Mount& m) { return is_mount_of(m, controllers); });
    if (mount == mounts.end()) continue;
    // A container may see only its own part of the tree: then its group is the mount's root.
    const fs::path group = fs::path{line.substr(second + 1)}.lexically_relative(mount->root);
    const bool is_inside = !group.empty() && *group.begin() != ".." && group != ".";
    const fs::path point = root / fs::path{mount->point}.relative_path();
    found.push_back({point, is_inside ? point / group : point, controllers.empty(), controllers});
  }
  return found;
}

std::optional<double> cgroup_cpu_quota(const fs::path& root) {
  std::optional<double> tightest;
  for (const OwnGroup& own : own_groups(root)) {
    if (!own.is_version2 && !lists(own.controllers, "cpu")) continue;
    const auto consider = [&](const fs::path& group) {
      if (const auto quota = quota_of(group, own.is_version2)) tightest = std::min(tightest.value_or(*quota), *quota);
    };
    for (fs::path group = own.directory; group != own.mount; group = group.parent_path()) consider(group);
    consider(own.mount);
  }
  return tightest;
}

}  // namespace replay::launcher
