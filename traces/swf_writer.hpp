// Writes records in the Standard Workload Format: fields parted by single blanks, decimals only where there are any, so
// that reading them back gives the same record.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/base/file/byte_sink.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"

namespace replay {

class SwfWriter {
 public:
  explicit SwfWriter(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}
  /// A path, "-" for standard output; gzip if it ends in ".gz".
  explicit SwfWriter(const std::string& path) : SwfWriter(open_sink(path)) {}

  void write(const SwfHeader& header);
  void write(const SwfRecord& record);
  /// A line as SwfReader::comments() has it: with its ';', or empty.
  void write_comment(std::string_view line);
  /// The header once more, in place of the one that was written first. REQUIRES: as long as that one; a plain file.
  void overwrite(const SwfHeader& header);
  /// No more records come: all are written. Throws InputError when they cannot be.
  void finish();
  /// finish(), then gives the file its name. Without it there is no file.
  void close();

 private:
  void flush_if_large();

  std::unique_ptr<ByteSink> sink_;
  std::string text_;
};

/// Appends the record as a line, its end included.
void append_swf_line(std::string& text, const SwfRecord& record);

}  // namespace replay
