#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/log/fields.hpp"
#include "scheduler/log/record_reader.hpp"
#include "scheduler/log/text.hpp"

namespace replay::log {
namespace {

constexpr std::size_t kReadBufferBytes = std::size_t{1} << 18;
constexpr std::size_t kLongestLogLine = std::size_t{64}
                                        << 20;  // an allocation of millions of cores, none beside another
constexpr std::size_t kMostHeaderLines = 1000;  // ours have twenty

void check_first_line(std::string_view line, const Place& place) {
  if (line == kFirstLine) return;
  if (line.starts_with(kFirstLineName)) {
    const auto version = parse_number<int>(line.substr(kFirstLineName.size()));
    if (version && *version > 1)
      place.fail("event log of format version {}; this program reads version 1: read it with the newer replay",
                 *version);
  }
  place.fail("expected '{}' (an event log), found '{}'", kFirstLine, visible_text(line, 40));
}

}  // namespace

// Takes one whole line after the other, and checks their order.
class LogReader {
 public:
  LogReader(std::string_view file, Sink& sink) : file_(file), sink_(sink) {}

  void line(std::string_view text) {
    const Place place{file_, ++lines_};
    if (!end_.is_whole) place.fail("expected nothing after '{}', found '{}'", kCutMark, visible_text(text, 40));
    if (lines_ == 1)
      check_first_line(text, place);
    else if (text == kCutMark || (text.starts_with(kCutMark) && text[kCutMark.size()] == ' '))
      cut_line(text.substr(kCutMark.size()), place);
    else if (text.starts_with('#'))
      header_line(text.substr(1), place);
    else
      record_line(text, place);
  }

  /// The line that has begun is longer than any line may be.
  [[noreturn]] void fail_too_long() const {
    Place{file_, lines_ + 1}.fail("expected at most {} bytes in a line, found more", kLongestLogLine);
  }

  /// The file ends with a whole line, for the time being: the header is all there, because it is written at once.
  void pause() {
    if (lines_ > 0) hand_over_header();
  }

  // `rest`: what stands behind the last whole line.
  LogEnd end(std::string_view rest) {
    if (lines_ == 0) Place{file_, 1}.fail("expected '{}' (an event log), found no whole line", kFirstLine);
    hand_over_header();
    end_.is_whole = end_.is_whole && rest.empty();
    return std::move(end_);
  }

 private:
  void cut_line(std::string_view text, const Place& place) {
    const auto reason = unescaped(text.empty() ? text : text.substr(1));
    if (!reason) place.fail("expected '{} REASON', found '{}{}'", kCutMark, kCutMark, visible_text(text, 40));
    end_ = {false, clean_line(*reason, kLongestReason)};
  }

  void header_line(std::string_view text, const Place& place) {
    if (header_done_)
      place.fail("expected a record, found a header line '#{}' after the first record", visible_text(text, 40));
    if (header_.entries.size() == kMostHeaderLines)
      place.fail("expected at most {} header lines, found more", kMostHeaderLines);
    const std::size_t blank = text.find(' ');
    const std::string name{text.substr(0, blank)};
    const auto value = unescaped(blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1));
    if (name.empty() || name.find_first_of("\t\r\\") != std::string::npos || !value)
      place.fail("expected a header line '#name value', found '#{}'", visible_text(text, 40));
    if (!header_.value(name).empty()) place.fail("expected each header once, found '{}' twice", name);
    header_.set(name, *value);
  }

  void record_line(std::string_view text, const Place& place) {
    if (!header_done_) hand_over_header();
    const Record record = read_record(text, place);
    if (record.at < last_)
      place.fail("field 1 (time): expected {} or later, as records are in time order, found {}", replay::to_text(last_),
                 replay::to_text(record.at));
    last_ = record.at;
    try {
      sink_.record(record);
    } catch (const BadRecord& error) {
      throw InputError(file_, lines_, error.why());
    }
  }

  void hand_over_header() {
    if (std::exchange(header_done_, true)) return;
    try {
      sink_.header(header_);
    } catch (const BadRecord& error) {
      throw InputError(fmt::format("{}: {}", file_, error.why()));
    }
  }

  std::string_view file_;
  Sink& sink_;
  Header header_;
  bool header_done_ = false;
  std::size_t lines_ = 0;
  Instant last_ = Instant::min();
  LogEnd end_;
};

namespace {

// Passes the whole lines of `text` to `reader` and returns the rest, the beginning of a line.
std::string_view take_lines(std::string_view text, LogReader& reader) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    reader.line(line.ends_with('\r') ? line.substr(0, end - 1) : line);
    text.remove_prefix(end + 1);
  }
  return text;
}

}  // namespace

Record parse_line(std::string_view text, std::string_view file, std::size_t line) {
  return read_record(text, Place{file, line});
}

struct TextFollower::Reading {
  Reading(const std::filesystem::path& path, Sink& sink)
      : name(path.string()), file(std::fopen(path.c_str(), "rbe"), &std::fclose), reader(name, sink) {
    if (!file) fail(errno);
  }

  [[noreturn]] void fail(int error) const {
    throw InputError(fmt::format("{}: cannot read the event log: {}", name, std::strerror(error)));
  }

  bool read() {
    chunk.resize(held + kReadBufferBytes);
    const std::size_t got = std::fread(chunk.data() + held, 1, kReadBufferBytes, file.get());
    if (got < kReadBufferBytes && std::ferror(file.get()) != 0) fail(errno);
    const std::string_view rest = take_lines(std::string_view{chunk}.substr(0, held + got), reader);
    held = rest.size();
    if (held > kLongestLogLine) reader.fail_too_long();
    std::memmove(chunk.data(), rest.data(), held);
    if (got == kReadBufferBytes) return true;
    std::clearerr(file.get());  // the file may grow
    if (held == 0) reader.pause();
    return false;
  }

  std::string name;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file;
  LogReader reader;
  std::string chunk;
  std::size_t held = 0;  // bytes of a line that is not whole yet
};

TextFollower::TextFollower(const std::filesystem::path& path, Sink& sink)
    : reading_(std::make_unique<Reading>(path, sink)) {}

TextFollower::~TextFollower() = default;

bool TextFollower::read() { return reading_->read(); }

LogEnd TextFollower::finish() {
  return reading_->reader.end(std::string_view{reading_->chunk}.substr(0, reading_->held));
}

LogEnd read_text(const std::filesystem::path& path, Sink& sink) {
  TextFollower follower{path, sink};
  while (follower.read()) {
  }
  return follower.finish();
}

LogEnd read_text(std::string_view text, std::string_view file, Sink& sink) {
  LogReader reader(file, sink);
  return reader.end(take_lines(text, reader));
}

}  // namespace replay::log
