// A file that several processes have in memory at once: created by its owner, for its user alone, and gone with it.
#pragma once

#include <cstddef>
#include <filesystem>

namespace replay::launcher {

class MappedFile {
 public:
  /// Creates the file, which must not exist yet (0600), and fills it with zeros. Throws std::system_error.
  MappedFile(std::filesystem::path path, std::size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// At the start of a page.
  [[nodiscard]] void* start() const { return start_; }

 private:
  std::filesystem::path path_;
  std::size_t bytes_;
  void* start_;
};

}  // namespace replay::launcher
