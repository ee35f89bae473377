#include "launcher/mpich/shared_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::launcher {
namespace {

constexpr std::array<std::string_view, 2> kNamesBegin = {"/dev/shm/mpich_shar_tmp", "/dev/shm/ucx_shm_posix_"};
constexpr std::string_view kUcxsFile = "ucx_shm_posix_", kMpichsFile = "m";  // in an agent's folder

bool begins_and_is_random(std::string_view text, std::string_view start) {
  return text.size() > start.size() && text.starts_with(start) &&
         std::ranges::all_of(text.substr(start.size()), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

bool is_shared_file(std::string_view path) {
  return std::ranges::any_of(kNamesBegin, [path](std::string_view start) { return begins_and_is_random(path, start); });
}

/// Calls `found` with path and inode of each shared file in a text of /proc/PID/maps. One that has been removed has
/// " (deleted)" behind its path, and is no shared file.
template <typename Found>
void read_mapped(const std::string& maps, Found found) {
  std::ifstream file{maps};
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields{line};
    std::string range, rights, offset, device, path;
    ino_t inode = 0;
    fields >> range >> rights >> offset >> device >> inode;
    std::getline(fields >> std::ws, path);
    if (is_shared_file(path)) found(path, inode);
  }
}

bool is_mapped(const std::string& path) {
  bool is = false;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry{"/proc", gone}, end; !gone && entry != end; entry.increment(gone))
    if (const std::string name = entry->path().filename();
        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      read_mapped(entry->path() / "maps", [&](const std::string& other, ino_t) { is = is || other == path; });
  return is;
}

/// The kernel grants a lease for writing only where no other open file of this inode exists; a mapping keeps one open.
/// Whatever opens it meanwhile sends us a signal, by default SIGIO, which would end us; SIGURG is ignored.
bool is_in_use(const std::string& path) {
  const UniqueFd own{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  return !own.is_open() || ::fcntl(own.get(), F_SETSIG, SIGURG) != 0 || ::fcntl(own.get(), F_SETLEASE, F_WRLCK) != 0;
}

}  // namespace

bool is_file_of_ranks(std::string_view name) {
  return (name.size() == std::strlen(REPLAY_VM_SHARED_FILE) && begins_and_is_random(name, kMpichsFile)) ||
         begins_and_is_random(name, kUcxsFile);
}

void remove_unused_files(const std::filesystem::path& folder) {
  std::error_code gone;
  for (std::filesystem::directory_iterator entry{folder, gone}, end; !gone && entry != end; entry.increment(gone)) {
    const std::string& path = entry->path().native();
    struct stat status {};
    if (is_file_of_ranks(entry->path().filename().native()) && ::lstat(path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode) && !is_in_use(path))
      ::unlink(path.c_str());
  }
}

void SharedFiles::note(pid_t pid) {
  read_mapped(fmt::format("/proc/{}/maps", pid), [this](const std::string& path, ino_t inode) {
    if (std::ranges::find(files_, path, &File::path) == files_.end()) files_.push_back({path, inode});
  });
}

void SharedFiles::remove() {
  for (const File& file : std::exchange(files_, {})) {
    struct stat status {};
    if (::lstat(file.path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == file.inode &&
        status.st_uid == ::geteuid() && !is_mapped(file.path))
      ::unlink(file.path.c_str());
  }
}

}  // namespace replay::launcher
