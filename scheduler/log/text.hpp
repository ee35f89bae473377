// The event log as text: one record, one line, `SECONDS KIND name=value ...`, greppable and exact to the microsecond.
// docs/formats/events.md is the reference; a field that the reader does not know is an error.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler/log/record.hpp"

namespace replay::log {

/// One record as its line, without the line end. REQUIRES: finite numbers; times within 9e12 s of zero.
[[nodiscard]] std::string to_line(const Record& record);

/// Reads one such line. Throws InputError naming `file` and `line`, what was expected and what was found.
[[nodiscard]] Record parse_line(std::string_view text, std::string_view file, std::size_t line);

/// Writes a log file. Throws InputError when the file cannot be made or written (a full disk too); then a line that
/// says so replaces the last lines of the file, and nothing more can be written. Records are buffered: flush() secures
/// them against a crash. Call close() last; without it records may be lost.
class TextWriter final : public Sink {
 public:
  explicit TextWriter(const std::filesystem::path& path);
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;
  ~TextWriter() override;

  /// Once, before the first record.
  void header(const Header& header) override;
  void record(const Record& record) override;
  /// Hands what is buffered to the system. Throws InputError if that fails.
  void flush();
  /// flush(), and the system has it on disk. Throws InputError if that fails.
  void save();
  /// flush(), and the file is closed without an error. Nothing may be written after it.
  void close();

 private:
  void write_buffer();
  void mark_cut(const std::string& reason);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  fmt::memory_buffer buffer_;
};

/// How a log that was read ends.
struct LogEnd {
  bool is_whole =
      true;            ///< false: it was cut off, by a crash in the middle of a line or because it could not be written
  std::string reason;  ///< why it could not be written; empty: there was no such error
  explicit operator bool() const { return is_whole; }
};

/// Reads a log file into `sink`: the header first, then every record. Throws InputError on the first bad line; a log
/// that was cut off ends at its last whole line.
LogEnd read_text(const std::filesystem::path& path, Sink& sink);

/// Reads a log file that grows: hands on what has been written so far, and later what has come since. Where the file ends in the
/// middle of a line, the line is waited for. The header comes before the first record is written.
class TextFollower {
 public:
  /// Throws InputError if the file cannot be opened. `sink` must outlive this.
  TextFollower(const std::filesystem::path& path, Sink& sink);
  TextFollower(const TextFollower&) = delete;
  TextFollower& operator=(const TextFollower&) = delete;
  ~TextFollower();

  /// Hands on the next records, those of some 256 KB at most. Returns whether there may be more in the file; false: it is read to its
  /// end, as of now. Throws InputError on a bad line, or when reading fails.
  bool read();
  /// Nothing more will be written. REQUIRES: read() has returned false.
  LogEnd finish();

 private:
  struct Reading;
  std::unique_ptr<Reading> reading_;
};

/// The same from text in memory; `file` is what messages call it.
LogEnd read_text(std::string_view text, std::string_view file, Sink& sink);

}  // namespace replay::log
