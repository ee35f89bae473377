// A trace as one CSV table, for spreadsheets and data frames: a header row, one row per job, the 18 fields of SWF under
// names with their units and behind them the columns of the side file. The SWF header stands in front, its lines begin
// with ';'. docs/formats/trace-csv.md has the format.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "traces/swf_header.hpp"
#include "traces/swf_record.hpp"
#include "traces/trace_stream.hpp"

namespace replay {

/// Reads row by row; memory does not grow with the table. Columns may stand in any order; all but the job number and
/// the submit time may be missing.
class TraceCsvReader {
 public:
  /// Reads the header lines and the header row. Throws InputError for an unknown, repeated or missing column.
  explicit TraceCsvReader(std::unique_ptr<ByteSource> source);

  /// False at the end. Throws InputError "file:line: ..." for a broken row: tables are made by programs, so the error
  /// is not limited to one job.
  [[nodiscard]] bool next(TraceEntry& entry);

  [[nodiscard]] const SwfHeader& header() const { return header_; }

 private:
  void read_header_row(std::string_view line);
  void cut(std::string_view line);
  void set_cell(std::size_t index, std::string_view cell, TraceEntry& entry);
  [[noreturn]] void fail(std::string_view problem) const;

  LineReader lines_;
  CsvRow row_;
  SwfHeader header_;
  std::vector<std::size_t> columns_;      // of each cell: 0..17 a field of SWF, from 18 a column of the side file
  std::vector<std::string_view> fields_;  // of SWF, as the row in hand has them
  std::string line_;                      // the same as a line of SWF
};

class TraceCsvWriter {
 public:
  explicit TraceCsvWriter(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}
  /// The lines of `header` if they are wanted, then the header row. Call it first, once.
  void write(const SwfHeader& header, bool with_lines);
  void write(const TraceEntry& entry);
  /// Everything is written when this returns. Throws InputError when it cannot be.
  void close();

 private:
  void flush_if_large();

  std::unique_ptr<ByteSink> sink_;
  std::string text_;
  std::string line_;
};

/// The names of the first 18 columns.
extern const std::array<std::string_view, kSwfFields> kTraceCsvFields;

}  // namespace replay
