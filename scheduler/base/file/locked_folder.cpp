#include "scheduler/base/file/locked_folder.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "scheduler/base/file/name_template.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameEnds = 6;  // characters that mkdtemp() has chosen
constexpr int kTries = 10;

[[noreturn]] void fail_with(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

bool is_directory(int parent, const std::string& name) {
  struct stat status {};
  return ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

bool is_name_of(const FolderKind& kind, std::string_view name) {
  const auto is_random = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return name.size() == kind.begins.size() + kNameEnds && name.starts_with(kind.begins) &&
         std::ranges::all_of(name.substr(kind.begins.size()), is_random);
}

UniqueFd open_folder(int base, const char* name, int more) {
  return UniqueFd{::openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | more)};
}

bool is_private(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 07777) == 0700 &&
         status.st_uid == ::geteuid();
}

bool has_marker(int folder, const FolderKind& kind) {
  const UniqueFd marker{::openat(folder, kind.marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  struct stat status {};
  if (!marker.is_open() || ::fstat(marker.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::string text(kind.text.size() + 1, '\0');
  const ssize_t size = ::read(marker.get(), text.data(), text.size());
  return size > 0 && std::string_view{text.data(), static_cast<std::size_t>(size)} == kind.text;
}

bool make_marker(int folder, const FolderKind& kind) {
  const UniqueFd marker{::openat(folder, kind.marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  return marker.is_open() &&
         ::write(marker.get(), kind.text.data(), kind.text.size()) == static_cast<ssize_t>(kind.text.size());
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  UniqueFd own = open_folder(folder, ".");  // closedir() closes it
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own.is_open() ? ::fdopendir(own.get()) : nullptr, &::closedir);
  if (!stream) return names;
  (void)own.release();
  while (const dirent* entry = ::readdir(stream.get()))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  return names;
}

UniqueFd open_of_kind(const FolderKind& kind, int base, const std::string& name) {
  if (!is_name_of(kind, name)) return {};
  UniqueFd folder = open_folder(base, name.c_str());
  const bool is_its = folder.is_open() && is_private(folder.get()) &&
                      (has_marker(folder.get(), kind) || names_in(folder.get()).empty());
  return is_its ? std::move(folder) : UniqueFd{};
}

bool is_same(int base, const char* name, int folder) {
  struct stat by_name {};
  struct stat looked_at {};
  return ::fstatat(base, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(folder, &looked_at) == 0 &&
         by_name.st_dev == looked_at.st_dev && by_name.st_ino == looked_at.st_ino;
}

std::string remove_checked(const FolderKind& kind, int base, const char* name, int folder) {
  const std::vector<std::string> found = names_in(folder);
  const auto is_known = [&kind](const std::string& entry) {
    return entry == kind.marker || kind.is_known == nullptr || kind.is_known(entry);
  };
  for (const std::string& entry : found)
    if (!is_known(entry) || is_directory(folder, entry)) return entry;
  for (const std::string& entry : found)
    if (entry != kind.marker) ::unlinkat(folder, entry.c_str(), 0);
  ::unlinkat(folder, kind.marker, 0);
  if (is_same(base, name, folder)) ::unlinkat(base, name, AT_REMOVEDIR);
  return {};
}

// Another process may take one without a lock or a marker for that of a dead owner, and remove it.
LockedFolder make_locked_folder(const FolderKind& kind, const fs::path& base) {
  for (int tries = 1;; ++tries) {
    std::string name = name_template((fs::absolute(base) / kind.begins).string());
    if (::mkdtemp(name.data()) == nullptr) fail_with(fmt::format("cannot create a directory under {}", base.string()));
    LockedFolder made{name, open_folder(AT_FDCWD, name.c_str())};
    // The lock before the marker: a folder with a marker and no lock has no living owner.
    if (made.lock.is_open() && is_private(made.lock.get()) && ::flock(made.lock.get(), LOCK_EX | LOCK_NB) == 0 &&
        make_marker(made.lock.get(), kind))
      return made;
    if (tries == kTries) fail_with(fmt::format("cannot lock {}, or write into it", name));
  }
}

void remove_folders_of_dead(const FolderKind& kind, const fs::path& base) {
  const UniqueFd all = open_folder(AT_FDCWD, base.c_str(), 0);
  if (!all.is_open()) return;
  for (const std::string& name : names_in(all.get()))
    if (const UniqueFd folder = open_of_kind(kind, all.get(), name);
        folder.is_open() && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0)
      (void)remove_checked(kind, all.get(), name.c_str(), folder.get());
}

}  // namespace replay
