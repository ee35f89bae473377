#include "scheduler/service/last_number.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/trimmed.hpp"
#include "scheduler/service/messages.hpp"

namespace replay::service {
namespace {

constexpr std::size_t kSize = 20;  // always as many bytes, which replace one another in one block

}  // namespace

LastNumber::LastNumber(const std::filesystem::path& file)
    : name_(file.string()), file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600)) {
  char text[kSize + 1];
  const ssize_t size = file_.is_open() ? ::pread(file_.get(), text, sizeof text, 0) : -1;
  if (size < 0) throw InputError(fmt::format("{}: cannot be read or made: {}", name_, std::strerror(errno)));
  if (size == 0) {
    set(0);
    const UniqueFd folder{::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    (void)::fsync(folder.get());  // not every file system can
    return;
  }
  const std::string_view found{text, static_cast<std::size_t>(size)};
  const auto number = parse_number<std::int64_t>(trimmed(found, "\n"));
  if (!number || *number < 0 || *number > kLargestJob)
    throw InputError(
        fmt::format("{}: expected the largest number of a job, 0..{} in {} digits, found '{}'; where the file is "
                    "removed, the largest number in the journal and in jobs/ counts",
                    name_, kLargestJob, kSize - 1, trimmed(found, "\n")));
  value_ = *number;
}

// The block is replaced in place: sync_file_range() passes it to the disk without flushing the disk's cache.
bool LastNumber::write(std::int64_t number, Until until) const noexcept {
  constexpr unsigned kWrite = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  char text[kSize + 1];
  fmt::format_to_n(std::begin(text), kSize, "{:0{}}\n", number, kSize - 1);
  if (::pwrite(file_.get(), text, kSize, 0) != static_cast<ssize_t>(kSize)) return false;
  if (until == Until::kCacheOfDisk && ::sync_file_range(file_.get(), 0, kSize, kWrite) == 0) return true;
  return ::fdatasync(file_.get()) == 0;
}

void LastNumber::set(std::int64_t number, Until until) {
  errno = ENOSPC;  // of a short write
  if (!write(number, until))
    throw InputError(fmt::format("{}: the number of a job cannot be kept: {}", name_, std::strerror(errno)));
  value_ = number;
}

void LastNumber::set(std::int64_t number) { set(number, Until::kDisk); }

void LastNumber::set_before_commit(std::int64_t number) { set(number, Until::kCacheOfDisk); }

void LastNumber::try_set(std::int64_t number) noexcept {
  if (write(number, Until::kDisk)) value_ = number;
}

}  // namespace replay::service
