#include "launcher/agent/agent_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "launcher/agent/left_processes.hpp"
#include "launcher/mpich/shared_files.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/base/file/locked_folder.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameBegins = "replay-agent-";
constexpr const char* kMarker = "replay-agent";
constexpr std::string_view kMarkerText = "replay agent directory 2\n";
constexpr std::array<std::string_view, 3> kKnown = {kAgentSocket, kAgentProxySocket, kAgentVmlibLink};
constexpr int kTries = 100;
constexpr useconds_t kBetweenTries = 10'000;
constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::string_view kSharedNameBegins = "replay";  // then what mkdtemp() has chosen for the directory

bool is_of_an_agent(std::string_view entry) { return std::ranges::find(kKnown, entry) != kKnown.end(); }

constexpr FolderKind kAgents{kNameBegins, kMarker, kMarkerText, is_of_an_agent};
constexpr FolderKind kShared{kSharedNameBegins, kMarker, kMarkerText, is_file_of_ranks};

/// Of the agent whose directory has this name.
std::string shared_name(std::string_view name) {
  return std::string{kSharedNameBegins} + std::string{name.substr(kNameBegins.size())};
}

/// Empty: without it ranks use /dev/shm itself.
fs::path make_shared_folder(const std::string& agents_name) {
  const fs::path folder = fs::path{kSharedMemory} / shared_name(agents_name);
  if (::mkdir(folder.c_str(), 0700) != 0) return {};
  const UniqueFd opened = open_folder(AT_FDCWD, folder.c_str());
  if (opened.is_open() && is_private(opened.get()) && make_marker(opened.get(), kShared)) return folder;
  ::rmdir(folder.c_str());
  return {};
}

/// REQUIRES: the agent and its processes have ended. Returns the name of an unknown entry; empty: none.
std::string remove_shared_folder(const std::string& agents_name) {
  const UniqueFd base = open_folder(AT_FDCWD, kSharedMemory, 0);
  const std::string name = shared_name(agents_name);
  const UniqueFd folder = base.is_open() ? open_of_kind(kShared, base.get(), name) : UniqueFd{};
  return folder.is_open() ? remove_checked(kShared, base.get(), name.c_str(), folder.get()) : std::string{};
}

struct flock mark_of(short type) {
  struct flock mark {};
  mark.l_type = type;
  mark.l_whence = SEEK_SET;
  return mark;
}

bool is_marked(int directory) {
  struct flock mark = mark_of(F_WRLCK);
  return ::fcntl(directory, F_GETLK, &mark) == 0 && mark.l_type != F_UNLCK;
}

/// Whether no agent lives there. A child that the agent has forked shares its lock until it executes a program, or ends: of an
/// agent that was killed meanwhile for a moment, in which the lock is held and the mark is not.
bool take_lock_of_dead(int directory) {
  for (int tries = 0; ::flock(directory, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK || is_marked(directory) || tries == kTries) return false;
    ::usleep(kBetweenTries);
  }
  return true;
}

/// The same for both. Returns an unknown entry.
fs::path remove_both(int base, const std::string& name, int directory, const fs::path& path) {
  if (const std::string unknown = remove_shared_folder(name); !unknown.empty())
    return fs::path{kSharedMemory} / shared_name(name) / unknown;
  const std::string unknown = remove_checked(kAgents, base, name.c_str(), directory);
  return unknown.empty() ? fs::path{} : path / unknown;
}

}  // namespace

AgentDirectory make_agent_directory(const fs::path& base) {
  LockedFolder made = make_locked_folder(kAgents, base);
  fs::path shared = make_shared_folder(made.path.filename().string());
  return {std::move(made.path), std::move(shared), std::move(made.lock)};
}

void mark_as_living(const AgentDirectory& directory) {
  struct flock mark = mark_of(F_RDLCK);
  (void)::fcntl(directory.lock.get(), F_SETLK, &mark);
}

fs::path remove_agent_directory(const fs::path& directory) {
  const UniqueFd base = open_folder(AT_FDCWD, directory.parent_path().c_str(), 0);
  const std::string name = directory.filename().string();
  const UniqueFd opened = base.is_open() ? open_of_kind(kAgents, base.get(), name) : UniqueFd{};
  return opened.is_open() ? remove_both(base.get(), name, opened.get(), directory) : fs::path{};
}

std::vector<fs::path> remove_stale_agent_directories(const fs::path& base) {
  std::vector<fs::path> left;
  const UniqueFd all = open_folder(AT_FDCWD, base.c_str(), 0);
  if (!all.is_open()) return left;
  for (const std::string& name : names_in(all.get())) {
    const UniqueFd opened = open_of_kind(kAgents, all.get(), name);
    if (!opened.is_open() || !take_lock_of_dead(opened.get())) continue;  // not an agent's, or its agent lives
    if (!end_processes_left_by(fs::absolute(base) / name))
      throw std::system_error(
          EBUSY, std::generic_category(),
          fmt::format("processes that the dead agent of {} has left do not end by SIGKILL", (base / name).string()));
    if (fs::path unknown = remove_both(all.get(), name, opened.get(), base / name); !unknown.empty())
      left.push_back(std::move(unknown));
  }
  ControlGroup::remove_empty_ones_of_dead([](std::string_view name) { return is_name_of(kAgents, name); });
  return left;
}

}  // namespace replay::launcher
