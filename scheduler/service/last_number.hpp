// The largest number that a job was given, in a small file beside the journal: where the journal loses its newest part (a
// missing or damaged -wal, an old copy put back), the number is known all the same, and no other job gets it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "scheduler/base/file/unique_fd.hpp"

namespace replay::service {

class LastNumber {
 public:
  /// Makes the file if it is not there, with 0. Throws InputError if it cannot be read or written, or holds no number.
  explicit LastNumber(const std::filesystem::path& file);

  [[nodiscard]] std::int64_t value() const { return value_; }
  /// On disk when it returns. Throws InputError; then value() is as before.
  void set(std::int64_t number);
  /// The same, on disk with the next fsync of a file beside it, such as the commit of the journal: one flush of the disk
  /// for both.
  void set_before_commit(std::int64_t number);
  /// Where it is no matter if it fails.
  void try_set(std::int64_t number) noexcept;

 private:
  enum class Until : std::uint8_t { kDisk, kCacheOfDisk };
  [[nodiscard]] bool write(std::int64_t number, Until until) const noexcept;
  void set(std::int64_t number, Until until);

  std::string name_;
  UniqueFd file_;
  std::int64_t value_ = 0;
};

}  // namespace replay::service
