#include "scheduler/base/file/line_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

constexpr std::size_t kReadBlock = std::size_t{64} * 1024;  // in the cache, and below what malloc gives back at once
constexpr std::size_t kJudged = 4096;  // bytes that are read, if there are so many, to decide whether it is text
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::size_t find_byte(const std::vector<char>& buffer, std::size_t from, std::size_t to, char byte) {
  const void* found = from < to ? std::memchr(buffer.data() + from, byte, to - from) : nullptr;
  return found == nullptr ? to : static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data());
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kReadBlock + kReadableBehindLine) {
  while (filled_ < kJudged && !at_end_) refill();
  refuse_what_is_not_text();
  if (std::string_view(buffer_.data(), filled_).starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

std::optional<LineReader::Line> LineReader::next() {
  for (;;) {
    if (const std::size_t end = find_end(at_); end != kNone) return take(end);
    if (at_end_) {
      if (at_ == filled_) return std::nullopt;
      return take(filled_);
    }
    if (filled_ - at_ > kLongestLine) return pass_over_long_line();
    refill();
  }
}

// The end of the line that begins at or before `from`: a CR or LF, or kNone if none is in the buffer yet. A CR in the
// last byte is not taken as an end before the next byte is known.
std::size_t LineReader::find_end(std::size_t from) {
  if (!ends_known_ || line_feed_ < from) line_feed_ = find_byte(buffer_, from, filled_, '\n');
  if (!ends_known_ || carriage_return_ < from) carriage_return_ = find_byte(buffer_, from, filled_, '\r');
  ends_known_ = true;
  const std::size_t end = std::min(line_feed_, carriage_return_);
  if (end == filled_ || (end + 1 == filled_ && buffer_[end] == '\r' && !at_end_)) return kNone;
  return end;
}

LineReader::Line LineReader::take(std::size_t end) {
  const Line line{std::string_view(buffer_.data() + at_, end - at_), end - at_ > kLongestLine};
  at_ = end;
  if (at_ < filled_ && buffer_[at_] == '\r') ++at_;
  if (at_ < filled_ && buffer_[at_] == '\n') ++at_;
  ++number_;
  return line;
}

// The beginning stays in the buffer for messages; everything behind it is overwritten block by block.
LineReader::Line LineReader::pass_over_long_line() {
  constexpr std::size_t kKept = 80;
  std::memmove(buffer_.data(), buffer_.data() + at_, kKept);
  for (std::size_t end = kNone; end == kNone;) {
    const std::size_t rest = buffer_[filled_ - 1] == '\r' ? 1 : 0;  // may be half of a CR LF
    std::memmove(buffer_.data() + kKept, buffer_.data() + filled_ - rest, rest);
    const std::size_t got = source_->read(buffer_.data() + kKept + rest, capacity() - kKept - rest);
    filled_ = kKept + rest + got;
    buffer_[filled_] = '\0';
    at_end_ = got == 0;
    ends_known_ = false;
    end = find_end(kKept);
    if (end == kNone && at_end_) end = filled_;
    at_ = kKept;
    if (end != kNone) static_cast<void>(take(end));
  }
  return {std::string_view(buffer_.data(), kKept), true};
}

// Moves what is left to the front and reads behind it; the buffer grows while a line does not fit.
void LineReader::refill() {
  const std::size_t rest = filled_ - at_;
  std::memmove(buffer_.data(), buffer_.data() + at_, rest);
  if (rest > capacity() / 2) buffer_.resize(2 * capacity() + kReadableBehindLine);
  at_ = 0;
  const std::size_t got = source_->read(buffer_.data() + rest, capacity() - rest);
  filled_ = rest + got;
  buffer_[filled_] = '\0';
  at_end_ = got == 0;
  ends_known_ = false;
}

void LineReader::refuse_what_is_not_text() const {
  struct Magic {
    std::string_view bytes;
    const char* kind;
    const char* remedy;
  };
  static constexpr Magic kMagics[] = {{"BZh", "a bzip2 file", "bunzip2"},
                                      {std::string_view("\xFD"
                                                        "7zXZ",
                                                        5),
                                       "an xz file", "unxz"},
                                      {std::string_view("\x28\xB5\x2F\xFD", 4), "a zstd file", "unzstd"},
                                      {std::string_view("\x1F\x9D", 2), "a compress file", "uncompress"},
                                      {std::string_view("PK\x03\x04", 4), "a zip file", "unzip"}};
  const std::string_view first(buffer_.data(), filled_);
  for (const Magic& magic : kMagics)
    if (first.starts_with(magic.bytes))
      throw InputError(fmt::format("{}: not an SWF file: expected text or gzip, found {}: run {} on it first", name(),
                                   magic.kind, magic.remedy));
  const std::size_t nul = find_byte(buffer_, 0, filled_, '\0');
  if (nul != filled_) throw InputError(fmt::format("{}: not a text file: found a NUL byte at offset {}", name(), nul));
}

}  // namespace replay
