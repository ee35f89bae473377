#include "scheduler/base/file/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "replay-records 1\n";
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kHeadBytes = 3 * kNumberBytes;  // length, its complement, check

std::string text_of(std::uint32_t number) {
  std::string bytes;
  for (std::size_t i = 0; i < kNumberBytes; ++i, number >>= 8U) bytes.push_back(static_cast<char>(number & 0xFFU));
  return bytes;
}

std::uint32_t number_in(std::string_view bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t i = kNumberBytes; i-- > 0;)
    number = (number << 8U) | static_cast<unsigned char>(bytes[place * kNumberBytes + i]);
  return number;
}

std::uint32_t check_of(std::uint32_t before, std::string_view length, std::string_view record) {
  uLong check = ::crc32(before, reinterpret_cast<const Bytef*>(length.data()), static_cast<uInt>(length.size()));
  check = ::crc32(check, reinterpret_cast<const Bytef*>(record.data()), static_cast<uInt>(record.size()));
  return static_cast<std::uint32_t>(check);
}

[[noreturn]] void fail_to_read(const fs::path& path, const std::string& why) {
  throw InputError(fmt::format("{}: {}", path.string(), why));
}

std::string bytes_of(const fs::path& path, int file) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), static_cast<off_t>(bytes.size()));
    if (got == 0) return bytes;
    if (got > 0)
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      fail_to_read(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
}

struct Records {
  std::vector<std::string> records;
  std::uint32_t check = 0;
  std::size_t end = 0;  // of the last whole one
};

Records parse(const fs::path& path, std::string_view bytes) {
  if (!bytes.starts_with(kFirstLine) && !kFirstLine.starts_with(bytes))
    fail_to_read(path, "is no file of records of this version of replay");
  Records found;
  found.end = std::min(bytes.size(), kFirstLine.size());
  while (bytes.size() - found.end >= kHeadBytes) {
    const std::string_view rest = bytes.substr(found.end);
    const auto damaged = [&] {
      fail_to_read(path, fmt::format("record {} at byte {} is damaged", found.records.size() + 1, found.end));
    };
    if (std::ranges::all_of(rest, [](char byte) { return byte == '\0'; })) break;  // room that was not written
    const std::uint32_t length = number_in(rest, 0);
    if (number_in(rest, 1) != ~length) damaged();
    if (rest.size() - kHeadBytes < length) break;
    const std::string_view record = rest.substr(kHeadBytes, length);
    const std::uint32_t check = check_of(found.check, rest.substr(0, kNumberBytes), record);
    if (number_in(rest, 2) != check) {
      if (rest.size() == kHeadBytes + length) break;  // the last one: perhaps it was not written whole
      damaged();
    }
    found.records.emplace_back(record);
    found.check = check;
    found.end += kHeadBytes + length;
  }
  return found;
}

}  // namespace

RecordFile RecordFile::make(const fs::path& path) {
  UniqueFd file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!file.is_open()) fail_to_read(path, fmt::format("cannot be made: {}", std::strerror(errno)));
  RecordFile made{path, std::move(file)};
  if (::flock(made.file_.get(), LOCK_EX | LOCK_NB) != 0) made.fail("cannot be locked");
  made.unsaved_ = kFirstLine;
  return made;
}

RecordFile RecordFile::open(const fs::path& path, std::vector<std::string>& records) {
  UniqueFd file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!file.is_open()) fail_to_read(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  RecordFile opened{path, std::move(file)};
  if (::flock(opened.file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) fail_to_read(path, "another process has it: its run goes on");
    opened.fail("cannot be locked");
  }
  Records found = parse(path, bytes_of(path, opened.file_.get()));
  records = std::move(found.records);
  opened.check_ = found.check;
  opened.end_ = found.end;
  if (::ftruncate(opened.file_.get(), static_cast<off_t>(found.end)) != 0) opened.fail("cannot be cut");
  if (found.end < kFirstLine.size()) opened.unsaved_ = kFirstLine.substr(found.end);
  return opened;
}

std::vector<std::string> RecordFile::read(const fs::path& path) {
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) fail_to_read(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  return parse(path, bytes_of(path, file.get())).records;
}

void RecordFile::add(std::string_view record) {
  const auto length = static_cast<std::uint32_t>(record.size());
  INVARIANT(length == record.size(), "a record of {} bytes", record.size());
  const std::string head = text_of(length);
  check_ = check_of(check_, head, record);
  unsaved_ += head + text_of(~length) + text_of(check_);
  unsaved_ += record;
}

void RecordFile::save() {
  if (unsaved_.empty()) return;
  std::size_t written = 0;
  while (written < unsaved_.size()) {
    const ssize_t count =
        ::pwrite(file_.get(), unsaved_.data() + written, unsaved_.size() - written, static_cast<off_t>(end_ + written));
    if (count >= 0)
      written += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      fail("cannot be written");
  }
  if (::fdatasync(file_.get()) != 0) fail("cannot be written");
  end_ += written;
  unsaved_.clear();
}

void RecordFile::fail(const char* what) const {
  const int error = errno;
  static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(end_)));
  fail_to_read(path_, fmt::format("{}: {}", what, std::strerror(error)));
}

}  // namespace replay
