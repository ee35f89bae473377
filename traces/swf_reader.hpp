// Reads a log in the Standard Workload Format record by record; memory does not grow with the log. Broken lines are
// counted, the first few are remembered, and reading goes on, unless `strict`. Several tools and archives put columns of
// their own behind the 18: such a record is its first 18 fields, and counted.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"

namespace replay {

struct SwfReaderOptions {
  bool strict = false;               ///< throw at the first broken line, or record of more than 18 fields
  std::size_t messages_to_keep = 5;  ///< about broken lines
};

class SwfReader {
 public:
  /// Reads up to the first record; header() is complete afterwards. Throws InputError if it is not an SWF file (and names
  /// what reads a file of another kind that is known), or if a line before the first record is broken and the reader is
  /// strict.
  explicit SwfReader(std::unique_ptr<ByteSource> source, SwfReaderOptions options = {});
  /// A path, "-" for standard input; gzip is inflated.
  explicit SwfReader(const std::string& path, SwfReaderOptions options = {});

  /// The next record; false at the end. Throws InputError when the source fails, when a line is broken and the reader
  /// is strict, and at the end of a file that had no record at all.
  [[nodiscard]] bool next(SwfRecord& record);

  [[nodiscard]] const SwfHeader& header() const { return header_; }
  /// Comment and blank lines between the record before and the last one (or the end); those of the header are not here.
  [[nodiscard]] const std::vector<std::string>& comments() const { return comments_; }
  /// Number of the line that the last record stood in, from 1.
  [[nodiscard]] std::size_t line() const { return lines_.number(); }
  [[nodiscard]] const std::string& name() const { return lines_.name(); }
  [[nodiscard]] std::size_t records() const { return records_; }

  [[nodiscard]] std::size_t broken_lines() const { return broken_lines_; }
  /// "file:line: field N (name): expected ..., found '...'" for the first broken lines.
  [[nodiscard]] const std::vector<std::string>& broken_messages() const { return broken_messages_; }
  [[nodiscard]] const std::vector<std::size_t>& broken_line_numbers() const { return broken_line_numbers_; }

  /// Records that have more than 18 fields.
  [[nodiscard]] std::size_t long_records() const { return long_records_; }
  /// The lines of the first of them.
  [[nodiscard]] const std::vector<std::size_t>& long_record_lines() const { return long_record_lines_; }

 private:
  void read_header();
  template <class OnComment>
  [[nodiscard]] bool find_record(SwfRecord& record, OnComment on_comment);
  [[nodiscard]] bool is_comment(const LineReader::Line& line) const;
  [[nodiscard]] bool read_record(const LineReader::Line& line, SwfRecord& record);
  void note_broken(std::string_view problem);
  void note_long(int fields, std::string_view line);
  void expect_some_record() const;

  LineReader lines_;
  SwfReaderOptions options_;
  SwfHeader header_;
  std::optional<SwfRecord> first_;  // the record that ended the header, until next() gives it
  std::vector<std::string> comments_;
  std::size_t records_ = 0;
  std::size_t broken_lines_ = 0;
  std::vector<std::string> broken_messages_;
  std::vector<std::size_t> broken_line_numbers_;
  std::size_t long_records_ = 0;
  std::vector<std::size_t> long_record_lines_;
};

/// A tool's report about the lines that it did not take as they are: how many were skipped as broken, then the first few,
/// and how many records have more than 18 fields; nothing if there were none.
[[nodiscard]] std::vector<std::string> odd_line_report(const SwfReader& reader);

/// "of more than 18 fields, read by their first 18", for reports that count such records.
[[nodiscard]] std::string_view long_record_text();

/// Reads the first 18 fields of one line; `fields` is how many it has. False if something is wrong with them: `problem`
/// says what, and `record` is undefined. REQUIRES: what LineReader::Line promises of the bytes behind the line.
[[nodiscard]] bool parse_swf_line(std::string_view line, SwfRecord& record, std::string& problem, int& fields);

}  // namespace replay
