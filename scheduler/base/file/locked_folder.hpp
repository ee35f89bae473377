// Folders of processes that may be killed, so that the next process of the kind finds and removes what is left. Such a folder
// is recognised by its name, mode 0700, our user and a marker file, and its owner holds a lock on it, which goes with the
// owner. Every step is relative to an open folder and follows no link, so nothing can be swapped between check and removal.
#pragma once

#include <fcntl.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay {

/// What folders of a kind are known by.
struct FolderKind {
  std::string_view begins;  ///< their names: this, then six characters that mkdtemp() chooses
  const char* marker;       ///< a file in each
  std::string_view text;    ///< all that it holds
  bool (*is_known)(std::string_view entry) = nullptr;  ///< of the files in it, by name; null: all are
};

struct LockedFolder {
  std::filesystem::path path;  ///< absolute
  UniqueFd lock;               ///< the kernel drops it with the last process that has it open
};

/// A new one in `base`. Throws std::system_error.
[[nodiscard]] LockedFolder make_locked_folder(const FolderKind& kind, const std::filesystem::path& base);

/// Those of owners that have died, in `base`; a folder with anything unknown in it is left alone.
void remove_folders_of_dead(const FolderKind& kind, const std::filesystem::path& base);

// ---- the steps of both ----

[[nodiscard]] bool is_name_of(const FolderKind& kind, std::string_view name);
[[nodiscard]] UniqueFd open_folder(int base, const char* name, int more = O_NOFOLLOW);
/// Mode 0700, and of our user.
[[nodiscard]] bool is_private(int folder);
[[nodiscard]] bool has_marker(int folder, const FolderKind& kind);
[[nodiscard]] bool make_marker(int folder, const FolderKind& kind);
[[nodiscard]] std::vector<std::string> names_in(int folder);

/// The open folder, if it is one of that kind; without a marker if it is empty: its owner was killed as it made or removed it.
/// Else not open.
[[nodiscard]] UniqueFd open_of_kind(const FolderKind& kind, int base, const std::string& name);
/// Whether the name still leads to the folder that was checked.
[[nodiscard]] bool is_same(int base, const char* name, int folder);
/// REQUIRES: it is of that kind, and its owner has ended. Returns the name of an unknown entry, for which it is left alone;
/// empty: none. The marker goes last, so that the rest of an interrupted removal can still be recognised.
[[nodiscard]] std::string remove_checked(const FolderKind& kind, int base, const char* name, int folder);

}  // namespace replay
