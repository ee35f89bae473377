// A file that appears under its name only when it is complete, and replaces the file that had the name in one step.
// Until then it has no name at all (O_TMPFILE), so a program that is killed leaves nothing; on a file system that
// cannot do that it has a name with a random part, made with O_EXCL. Neither name is opened twice, and no link is
// followed: what another user puts beside the file changes nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/base/process/stop_signals.hpp"

namespace replay {

class WholeFile {
 public:
  /// kNamed: as on a file system without nameless files.
  enum class Kept : std::uint8_t { kNameless, kNamed };

  /// If `file` exists and is no regular file (a device, a pipe), it is opened and written directly. Throws InputError,
  /// "FILE: cannot be created: ...".
  explicit WholeFile(std::filesystem::path file, Kept kept = Kept::kNameless);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  /// Removes the file unless finish() has returned.
  ~WholeFile();

  /// As it was given.
  [[nodiscard]] const std::filesystem::path& path() const { return file_; }
  /// Owned by this object.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Appends all the bytes. Throws InputError, "FILE: cannot be written: ...".
  void write(std::string_view bytes);
  /// Replaces bytes that were written before, from `at` on. Throws InputError.
  void overwrite(off_t at, std::string_view bytes);
  /// It is complete: gives it its name. Nothing may be written afterwards. Throws InputError.
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;
  [[nodiscard]] bool open_nameless();
  void open_named();
  void link_nameless();
  void close_descriptor();

  std::filesystem::path file_;
  std::string unfinished_;                        // its name until it is complete; empty: none
  std::optional<RemovedAtStop> removed_at_stop_;  // that name
  bool is_direct_ = false;                        // no regular file: has its name already
  int descriptor_ = -1;
};

/// Writes a whole file of this text. Throws InputError.
void write_whole_file(const std::filesystem::path& file, std::string_view text);

/// Whether `name` is one that a WholeFile for `file` has before it is complete: a run that was killed may have left it.
/// Both without folder.
[[nodiscard]] bool is_unfinished_name(std::string_view name, std::string_view file);

}  // namespace replay
