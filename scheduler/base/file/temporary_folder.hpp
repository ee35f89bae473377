// A temporary folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace replay {

/// A new empty folder of mode 0700; the destructor removes it with all that is in it.
class TemporaryFolder {
 public:
  /// Its name begins with `prefix`; it lies in `base`, by default the system's folder for temporary files. Throws
  /// std::system_error.
  explicit TemporaryFolder(std::string_view prefix = "replay",
                           const std::filesystem::path& base = std::filesystem::temp_directory_path());
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace replay
