#include "launcher/os/control_group.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "launcher/os/cgroup.hpp"
#include "scheduler/base/process/process.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 20;  // of taking processes that were started meanwhile

/// Where controllers are passed on to groups below, a group of ours would get its own share of the CPU.
bool passes_controllers_on(const fs::path& group) {
  std::ifstream file{group / "cgroup.subtree_control"};
  std::string controller;
  return static_cast<bool>(file >> controller);
}

bool may_hold_ours(const OwnGroup& own) {
  if (::access((own.directory / "cgroup.procs").c_str(), W_OK) != 0) return false;
  if (own.is_version2) return !passes_controllers_on(own.directory);
  return own.controllers == "name=systemd" || own.controllers == "pids" || own.controllers == "freezer";
}

/// Version 2 first.
std::vector<fs::path> possible_parents(const fs::path& root) {
  std::vector<OwnGroup> groups = own_groups(root);
  std::erase_if(groups, [](const OwnGroup& own) { return !may_hold_ours(own); });
  std::ranges::stable_partition(groups, &OwnGroup::is_version2);
  std::vector<fs::path> parents;
  for (const OwnGroup& own : groups) parents.push_back(own.directory);
  return parents;
}

std::vector<fs::path> groups_below(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry{directory, error}, end; !error && entry != end; entry.increment(error))
    if (entry->is_directory(error) && !entry->is_symlink(error)) found.push_back(entry->path());
  return found;
}

void remove_group(const fs::path& directory) {
  for (const fs::path& below : groups_below(directory)) remove_group(below);
  ::rmdir(directory.c_str());
}

void read_processes(const fs::path& directory, std::vector<pid_t>& found) {
  std::ifstream file{directory / "cgroup.procs"};
  for (pid_t pid = 0; file >> pid;)
    if (pid > 0) found.push_back(pid);
  for (const fs::path& below : groups_below(directory)) read_processes(below, found);
}

bool is_our_group(const fs::path& directory) {
  struct stat status {};
  return ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/// Not open: a living process has it locked.
UniqueFd locked(const fs::path& directory) {
  UniqueFd lock{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  return lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(lock) : UniqueFd{};
}

}  // namespace

// Before it is locked, another process may take it for that of a dead one, and remove it.
std::optional<ControlGroup> ControlGroup::make(const std::string& name, const fs::path& root) {
  for (const fs::path& parent : possible_parents(root)) {
    if (::mkdir((parent / name).c_str(), 0755) != 0) continue;
    UniqueFd lock = locked(parent / name);
    if (lock.is_open() && is_our_group(parent / name)) return ControlGroup{parent / name, std::move(lock)};
  }
  return std::nullopt;
}

std::optional<ControlGroup> ControlGroup::find(const std::string& name, const fs::path& root) {
  for (const fs::path& parent : possible_parents(root))
    if (is_our_group(parent / name)) return ControlGroup{parent / name};
  return std::nullopt;
}

void ControlGroup::remove_empty_ones_of_dead(bool (*is_ours)(std::string_view name), const fs::path& root) {
  for (const fs::path& parent : possible_parents(root))
    for (const fs::path& group : groups_below(parent))
      if (is_ours(group.filename().native()) && is_our_group(group))
        if (const UniqueFd lock = locked(group); lock.is_open()) remove_group(group);
}

std::optional<ControlGroup> ControlGroup::make_below(const std::string& name) const {
  if (::mkdir((directory_ / name).c_str(), 0755) != 0) return std::nullopt;
  return ControlGroup{directory_ / name};
}

ControlGroup::~ControlGroup() {
  if (!directory_.empty()) remove_group(directory_);
}

bool ControlGroup::take_with_all_below(const Process& process) const {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> inside = processes();
    std::vector<pid_t> outside = descendants_of(process.pid());
    outside.push_back(process.pid());
    std::erase_if(outside, [&inside](pid_t one) { return std::ranges::find(inside, one) != inside.end(); });
    if (outside.empty()) return true;
    for (const pid_t one : outside) {
      std::ofstream file{directory_ / "cgroup.procs"};
      file << one << std::flush;
      const auto stat = file ? std::nullopt : read_stat(one);
      if (stat && stat->state != 'Z') return false;
    }
  }
  return true;  // it starts processes faster than they can be taken; all but the newest are in
}

bool ControlGroup::has(pid_t pid) const {
  const std::vector<pid_t> inside = processes();
  return std::ranges::find(inside, pid) != inside.end();
}

std::vector<pid_t> ControlGroup::processes() const {
  std::vector<pid_t> found;
  read_processes(directory_, found);
  return found;
}

}  // namespace replay::launcher
