// A file of records that grows at its end, for what must be known after a crash. A record that save() has brought on disk is
// there; of one that was being written nothing is. Each record is checked together with all before it, so that damage is
// recognised and never read over: only bytes behind the last whole record are cut off when the file is opened again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay {

class RecordFile {
 public:
  /// Makes the file, mode 0600. One writer at a time has it. Throws InputError: it exists, or cannot be made.
  [[nodiscard]] static RecordFile make(const std::filesystem::path& file);
  /// The file with its whole records, to which others can be added. Throws InputError: there is none, it is damaged, or
  /// another process has it.
  [[nodiscard]] static RecordFile open(const std::filesystem::path& file, std::vector<std::string>& records);
  /// The whole records of the file, which is not changed. Throws InputError.
  [[nodiscard]] static std::vector<std::string> read(const std::filesystem::path& file);

  /// Nothing is written before save().
  void add(std::string_view record);
  /// What was added is on disk when it returns. Throws InputError; then the file ends with what was saved before.
  void save();

 private:
  RecordFile(std::filesystem::path path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint32_t check_ = 0;  // of all records so far
  std::uint64_t end_ = 0;    // of what is saved
  std::string unsaved_;
};

}  // namespace replay
