#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/whole_number.hpp"
#include "scheduler/log/fields.hpp"
#include "scheduler/log/text.hpp"

namespace replay::log {
namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{1} << 18;

using Buffer = fmt::memory_buffer;

void put(Buffer& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

// Control characters, backslashes and `quote` would end a line or a string: they are escaped.
void put_escaped(Buffer& out, std::string_view text, char quote) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n')
      put(out, "\\n");
    else if (c == '\t')
      put(out, "\\t");
    else if (code < 0x20 || code == 0x7f)
      put(out, fmt::format("\\x{:02x}", code));
    else if (c == '\\' || c == quote)
      out.push_back('\\'), out.push_back(c);
    else
      out.push_back(c);
  }
}

void put_value(Buffer& out, WholeNumber auto value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.data() + digits.size());
}
void put_value(Buffer& out, bool value) { put(out, value ? "yes" : "no"); }
void put_value(Buffer& out, JobId job) { put_value(out, number(job)); }
void put_value(Buffer& out, NodeId node) { put_value(out, number(node)); }
void put_value(Buffer& out, const std::vector<ProcessCount>& sizes) { put(out, sizes_text(sizes)); }

template <class Value>
concept HasText = requires(const Value& value) {
  replay::to_text(value);
};
void put_value(Buffer& out, const HasText auto& value) { put(out, replay::to_text(value)); }

// The shortest text that reads back as the same double.
void put_value(Buffer& out, double value) {
  INVARIANT(std::isfinite(value), "the log cannot hold {}", value);
  if (value == std::trunc(value) && std::abs(value) < 1e15 && !std::signbit(value))
    put_value(out, static_cast<std::int64_t>(value));
  else
    fmt::format_to(fmt::appender(out), "{}", value);
}

void put_value(Buffer& out, const std::string& text) {
  out.push_back('"');
  put_escaped(out, text, '"');
  out.push_back('"');
}

void put_value(Buffer& out, const std::vector<JobId>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i != 0) out.push_back(',');
    put_value(out, jobs[i]);
  }
}

template <class Value>
void put_value(Buffer& out, const std::optional<Value>& value) {
  put_value(out, *value);
}

// `0-3:2,7:1`: ascending neighbours with equally many processes are one range.
void put_value(Buffer& out, const CoreLoads& named) {
  for (std::size_t first = 0, last = 0; first < named.size(); first = ++last) {
    while (last + 1 < named.size() && named[last + 1].core == next(named[last].core) &&
           named[last + 1].processes == named[first].processes)
      ++last;
    if (first != 0) out.push_back(',');
    put_value(out, number(named[first].core));
    if (last != first) out.push_back('-'), put_value(out, number(named[last].core));
    out.push_back(':');
    put_value(out, named[first].processes);
  }
}

void put_value(Buffer& out, const auto& value, const auto& /*rule*/) { put_value(out, value); }
void put_value(Buffer& out, double value, OrMinusInfinity /*rule*/) {
  if (std::isinf(value))
    put(out, "-inf");
  else
    put_value(out, value);
}

// Writes the fields of one record, without those that have their default value: the reader restores it.
struct LineWriter {
  Buffer& out;
  Instant at;

  template <class Value, class Of = NoRule>
  void field(std::string_view name, const Value& value, const Of& rule = {}) const {
    const std::size_t size = out.size();
    out.resize(size + name.size() + 2);
    *std::ranges::copy(name, out.data() + size + 1).out = '=';
    out[size] = ' ';
    put_value(out, value, rule);
  }
  template <class Value, class Of = NoRule>
  void optional(std::string_view name, const Value& value, const std::type_identity_t<Value>& otherwise = {},
                const Of& rule = {}) const {
    if (value != otherwise) field(name, value, rule);
  }
  void together(bool are_stated, const auto& put_fields) const {
    if (are_stated) put_fields();
  }
  void declaration(const std::shared_ptr<const Declaration>& stated) const {
    if (stated) fields(*this, *stated);
  }
};

void put_record(Buffer& out, const Record& record) {
  put_value(out, record.at);
  out.push_back(' ');
  put(out, word_of(record.what));
  log::visit([line = LineWriter{out, record.at}](const auto& what) { fields(line, what); }, record.what);
}

void put_header(Buffer& out, const Header& header) {
  put(out, kFirstLine);
  out.push_back('\n');
  for (const auto& [name, value] : header.entries) {
    INVARIANT(!name.empty() && name.find_first_of(" \t\n\r\\") == std::string::npos, "a header named '{}'", name);
    out.push_back('#');
    put(out, name);
    if (!value.empty()) out.push_back(' ');
    put_escaped(out, value, '\0');
    out.push_back('\n');
  }
}

}  // namespace

std::string to_line(const Record& record) {
  Buffer buffer;
  put_record(buffer, record);
  return fmt::to_string(buffer);
}

TextWriter::TextWriter(const std::filesystem::path& path)
    : path_(path), file_(std::fopen(path.c_str(), "w+be"), &std::fclose) {
  if (!file_) fail(errno);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // buffer_ is the buffer
}

TextWriter::~TextWriter() {
  if (file_)
    std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get());  // best effort: a destructor cannot report an error
}

void TextWriter::header(const Header& header) { put_header(buffer_, header); }

void TextWriter::record(const Record& record) {
  put_record(buffer_, record);
  buffer_.push_back('\n');
  if (buffer_.size() >= kWriteBufferBytes) write_buffer();
}

void TextWriter::flush() {
  write_buffer();
  if (std::fflush(file_.get()) != 0) fail(errno);
}

void TextWriter::save() {
  flush();
  if (::fdatasync(::fileno(file_.get())) != 0 && errno != EINVAL) fail(errno);  // EINVAL: not a file, but a pipe
}

void TextWriter::close() {
  flush();
  if (std::fclose(file_.release()) != 0) fail(errno);
}

void TextWriter::write_buffer() {
  errno = 0;
  const std::size_t written = std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get());
  const bool whole = written == buffer_.size();
  buffer_.clear();
  if (whole) return;
  const int error = errno;
  mark_cut(std::strerror(error));
  fail(error);
}

// A full disk has no room for one more line: the mark replaces the last lines, and the file does not grow. If that
// fails the file is cut in the middle of a line, which readers detect, too.
void TextWriter::mark_cut(const std::string& reason) {
  Buffer mark;
  put(mark, kCutMark);
  mark.push_back(' ');
  put_escaped(mark, reason, '\0');
  mark.push_back('\n');
  const int file = ::fileno(file_.get());
  const off_t end = ::lseek(file, 0, SEEK_END);
  if (end <= static_cast<off_t>(mark.size())) return;
  std::string tail(std::min<std::size_t>(static_cast<std::size_t>(end), kWriteBufferBytes), '\0');
  const off_t start = end - static_cast<off_t>(tail.size());
  if (::pread(file, tail.data(), tail.size(), start) != static_cast<ssize_t>(tail.size())) return;
  const std::size_t last_line = tail.rfind('\n', tail.size() - mark.size() - 1);
  if (last_line == std::string::npos) return;
  const off_t at = start + static_cast<off_t>(last_line) + 1;
  if (::ftruncate(file, at) == 0) static_cast<void>(!::pwrite(file, mark.data(), mark.size(), at));
}

void TextWriter::fail(int error) const {
  throw InputError(fmt::format("{}: cannot write the event log: {}", path_.string(), std::strerror(error)));
}

}  // namespace replay::log
