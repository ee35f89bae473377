#include "launcher/agent/agent_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "launcher/agent/left_processes.hpp"
#include "launcher/mpich/shared_files.hpp"
#include "launcher/os/control_group.hpp"
#include "scheduler/base/file/name_template.hpp"

namespace replay::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameBegins = "replay-agent-";
constexpr std::size_t kNameEnds = 6;  // characters that mkdtemp() has chosen
constexpr const char* kMarker = "replay-agent";
constexpr std::string_view kMarkerText = "replay agent directory 2\n";
constexpr std::array<std::string_view, 4> kKnown = {kMarker, kAgentSocket, kAgentProxySocket, kAgentVmlibLink};
constexpr int kTries = 100;
constexpr useconds_t kBetweenTries = 10'000;
constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::string_view kSharedNameBegins = "replay";  // then what mkdtemp() has chosen for the directory

[[noreturn]] void fail_with(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

bool is_name_of_ours(std::string_view name) {
  const auto is_random = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return name.size() == kNameBegins.size() + kNameEnds && name.starts_with(kNameBegins) &&
         std::ranges::all_of(name.substr(kNameBegins.size()), is_random);
}

bool is_known(const std::string& entry) { return std::ranges::find(kKnown, entry) != kKnown.end(); }

bool is_known_shared(const std::string& entry) { return entry == kMarker || is_file_of_ranks(entry); }

/// Of the agent whose directory has this name.
std::string shared_name(std::string_view name) {
  return std::string{kSharedNameBegins} + std::string{name.substr(name.size() - kNameEnds)};
}

UniqueFd open_directory(int base, const char* name, int more = O_NOFOLLOW) {
  return UniqueFd{::openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more)};
}

bool is_private(int directory) {
  struct stat status {};
  return ::fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 07777) == 0700 &&
         status.st_uid == ::geteuid();
}

bool has_marker(int directory) {
  const UniqueFd marker{::openat(directory, kMarker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat status {};
  if (!marker.is_open() || ::fstat(marker.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char text[kMarkerText.size() + 1];
  const ssize_t size = ::read(marker.get(), text, sizeof text);
  return size > 0 && std::string_view{text, static_cast<std::size_t>(size)} == kMarkerText;
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  UniqueFd own = open_directory(directory, ".");  // closedir() closes it
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own.is_open() ? ::fdopendir(own.get()) : nullptr, &::closedir);
  if (!stream) return names;
  (void)own.release();
  while (const dirent* entry = ::readdir(stream.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  return names;
}

/// Whether the name still leads to the directory that was checked.
bool is_same(int base, const char* name, int directory) {
  struct stat by_name {};
  struct stat looked_at {};
  return ::fstatat(base, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(directory, &looked_at) == 0 &&
         by_name.st_dev == looked_at.st_dev && by_name.st_ino == looked_at.st_ino;
}

bool is_directory(int parent, const std::string& name) {
  struct stat status {};
  return ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/// Returns the name of an unknown entry; empty: none. The marker is deleted last, so that the rest of an interrupted
/// deletion can still be recognised.
std::string remove_checked(int base, const char* name, int directory, bool (*is_known_entry)(const std::string&)) {
  const std::vector<std::string> found = names_in(directory);
  for (const std::string& entry : found)
    if (!is_known_entry(entry) || is_directory(directory, entry)) return entry;
  for (const std::string& entry : found)
    if (entry != kMarker) ::unlinkat(directory, entry.c_str(), 0);
  ::unlinkat(directory, kMarker, 0);
  if (is_same(base, name, directory)) ::unlinkat(base, name, AT_REMOVEDIR);
  return {};
}

/// The open directory, if it is an agent's.
std::optional<UniqueFd> open_agents(int base, const std::string& name) {
  if (!is_name_of_ours(name)) return std::nullopt;
  UniqueFd directory = open_directory(base, name.c_str());
  if (!directory.is_open() || !is_private(directory.get()) || !has_marker(directory.get())) return std::nullopt;
  return directory;
}

bool make_marker(int directory) {
  const UniqueFd marker{::openat(directory, kMarker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  return marker.is_open() &&
         ::write(marker.get(), kMarkerText.data(), kMarkerText.size()) == static_cast<ssize_t>(kMarkerText.size());
}

/// Empty: without it ranks use /dev/shm itself.
fs::path make_shared_folder(const std::string& agents_name) {
  const fs::path folder = fs::path{kSharedMemory} / shared_name(agents_name);
  if (::mkdir(folder.c_str(), 0700) != 0) return {};
  const UniqueFd opened = open_directory(AT_FDCWD, folder.c_str());
  if (opened.is_open() && is_private(opened.get()) && make_marker(opened.get())) return folder;
  ::rmdir(folder.c_str());
  return {};
}

/// REQUIRES: the agent and its processes have ended. Returns the name of an unknown entry; empty: none. Without a marker the
/// agent was killed as it made the folder, and nothing is in it.
std::string remove_shared_folder(const std::string& agents_name) {
  const UniqueFd base = open_directory(AT_FDCWD, kSharedMemory, 0);
  const std::string name = shared_name(agents_name);
  const UniqueFd folder = base.is_open() ? open_directory(base.get(), name.c_str()) : UniqueFd{};
  if (!folder.is_open() || !is_private(folder.get())) return {};
  if (has_marker(folder.get())) return remove_checked(base.get(), name.c_str(), folder.get(), is_known_shared);
  if (is_same(base.get(), name.c_str(), folder.get())) ::unlinkat(base.get(), name.c_str(), AT_REMOVEDIR);
  return {};
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
  const std::string unknown = remove_checked(base, name.c_str(), directory, is_known);
  return unknown.empty() ? fs::path{} : path / unknown;
}

}  // namespace

AgentDirectory make_agent_directory(const fs::path& base) {
  std::string name = name_template((fs::absolute(base) / kNameBegins).string());
  if (::mkdtemp(name.data()) == nullptr) fail_with(fmt::format("cannot create a directory under {}", base.string()));
  AgentDirectory made{name, {}, open_directory(AT_FDCWD, name.c_str())};
  // The lock before the marker: a directory with a marker and no lock has no living agent.
  if (!made.lock.is_open() || !is_private(made.lock.get()) || ::flock(made.lock.get(), LOCK_EX | LOCK_NB) != 0)
    fail_with(fmt::format("cannot lock {}", name));
  if (!make_marker(made.lock.get())) fail_with(fmt::format("cannot write into {}", name));
  made.shared = make_shared_folder(made.path.filename().string());
  return made;
}

void mark_as_living(const AgentDirectory& directory) {
  struct flock mark = mark_of(F_RDLCK);
  (void)::fcntl(directory.lock.get(), F_SETLK, &mark);
}

fs::path remove_agent_directory(const fs::path& directory) {
  const UniqueFd base = open_directory(AT_FDCWD, directory.parent_path().c_str(), 0);
  const std::string name = directory.filename().string();
  const auto opened = base.is_open() ? open_agents(base.get(), name) : std::nullopt;
  if (!opened) return {};
  return remove_both(base.get(), name, opened->get(), directory);
}

std::vector<fs::path> remove_stale_agent_directories(const fs::path& base) {
  std::vector<fs::path> left;
  const UniqueFd all = open_directory(AT_FDCWD, base.c_str(), 0);
  if (!all.is_open()) return left;
  for (const std::string& name : names_in(all.get())) {
    const auto opened = open_agents(all.get(), name);
    if (!opened || !take_lock_of_dead(opened->get())) continue;  // not an agent's, or its agent lives
    if (!end_processes_left_by(fs::absolute(base) / name))
      throw std::system_error(
          EBUSY, std::generic_category(),
          fmt::format("processes that the dead agent of {} has left do not end by SIGKILL", (base / name).string()));
    if (fs::path unknown = remove_both(all.get(), name, opened->get(), base / name); !unknown.empty())
      left.push_back(std::move(unknown));
    else
      (void)ControlGroup::find(name);  // the dead agent's; the destructor removes it
  }
  return left;
}

}  // namespace replay::launcher
