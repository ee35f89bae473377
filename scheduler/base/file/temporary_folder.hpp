// A temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace replay {

/// $TMPDIR, else /tmp. Throws InputError when $TMPDIR names no folder.
[[nodiscard]] std::filesystem::path folder_for_temporary_files();

/// A new empty folder of mode 0700; the destructor removes it with all that is in it.
class TemporaryFolder {
 public:
  /// Its name begins with `prefix`; it lies in `base`. Empty: in $TMPDIR, else /tmp. Throws std::system_error, or
  /// InputError when $TMPDIR names no folder.
  explicit TemporaryFolder(std::string_view prefix = "replay", const std::filesystem::path& base = {});
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace replay
