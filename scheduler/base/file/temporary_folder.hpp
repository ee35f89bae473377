// A temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace replay {

/// The folder for temporary files: TMPDIR, or /tmp. Throws InputError if TMPDIR names none.
[[nodiscard]] std::filesystem::path folder_for_temporary_files();

/// A new empty folder of mode 0700; the destructor removes it with all that is in it.
class TemporaryFolder {
 public:
  /// Its name begins with `prefix`. Throws std::system_error.
  explicit TemporaryFolder(std::string_view prefix = "replay",
                           const std::filesystem::path& base = folder_for_temporary_files());
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace replay
