// Memory that several processes share: a file without a name (memfd), created by its owner and handed to others as a
// descriptor. Its size is sealed, so a process that has it can change its bytes, but cannot remove pages that the
// others use.
#pragma once

#include <cstddef>
#include <string>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::launcher {

class MappedFile {
 public:
  /// Filled with zeros. `name` is shown in /proc only. Throws std::system_error.
  MappedFile(const std::string& name, std::size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Owned by this object.
  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// At the start of a page.
  [[nodiscard]] void* start() const { return start_; }

 private:
  std::size_t bytes_;
  UniqueFd file_;
  void* start_;
};

}  // namespace replay::launcher
