// The side file NAME.jobs.csv: job declarations for which a log has no field, one row per job, joined to NAME.swf by
// the job number. A column for each member of JobTraits; an empty cell is "not stated". docs/formats/job-table.md has
// the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "scheduler/model/job_traits.hpp"
#include "traces/number_set.hpp"

namespace replay {

/// Where the side file of a trace lies: "dir/synth.swf" and "dir/synth.swf.gz" have "dir/synth.jobs.csv". Nothing for
/// "-".
[[nodiscard]] std::optional<std::string> job_table_beside(const std::string& trace);
/// The file beside the trace that is there, with an ending such as ".jobs.csv": by that name, or else compressed, with ".gz" behind
/// it. Nothing if neither is there, and for "-". Relative paths begin at `folder`.
[[nodiscard]] std::optional<std::string> find_beside(const std::string& trace, std::string_view ending,
                                                     const std::filesystem::path& folder = {});
inline constexpr std::string_view kJobTableEnding = ".jobs.csv";

/// The columns behind "job", in their fixed order; cells are numbers and words that need no quotes, and none holds a
/// comma. For other tables that have the same columns.
[[nodiscard]] std::vector<std::string_view> job_table_columns();
/// Sets the member of columns[`column`] from its cell; an empty cell sets nothing. Returns what was expected if the
/// cell is wrong, else an empty text. REQUIRES: column < job_table_columns().size().
[[nodiscard]] std::string_view set_job_cell(JobTraits& traits, std::size_t column, std::string_view cell);
/// Appends ",CELL" for each column.
void append_job_cells(std::string& text, const JobTraits& traits);

/// Finds the rows of a table for the jobs of a trace. Rows in the order of the trace cost no memory; a row that comes
/// earlier is kept until find() asks for it.
class JobTableReader {
 public:
  /// Throws InputError for a missing file or a header row with a column that is unknown, twice there, or not "job"
  /// first.
  explicit JobTableReader(const std::string& path);
  explicit JobTableReader(std::unique_ptr<ByteSource> source);

  /// The row of that job; nothing if there is none. Throws InputError for a broken row or a second one of the same job.
  [[nodiscard]] std::optional<JobTraits> find(std::int64_t job);

  [[nodiscard]] const std::string& name() const { return lines_.name(); }
  struct Unused {
    std::size_t count = 0;
    std::int64_t job = -1;  ///< of the first of them
    std::size_t line = 0;   ///< its line
  };
  /// Rows that no find() has asked for; reads to the end. Call it last.
  [[nodiscard]] Unused unused();

 private:
  struct Row {
    std::int64_t job = -1;
    std::size_t line = 0;
    JobTraits traits;
  };
  void read_header();
  [[nodiscard]] bool next(Row& row);
  [[noreturn]] void fail(std::string_view column, std::string_view expected, std::string_view found) const;

  void cut(std::string_view line);

  LineReader lines_;
  CsvRow row_;
  std::vector<std::size_t> columns_;  // of each cell of a row: its place in the list of all columns
  std::unordered_map<std::int64_t, Row> waiting_;
  NumberSet seen_;
};

/// Writes rows, all columns in the fixed order.
class JobTableWriter {
 public:
  explicit JobTableWriter(std::unique_ptr<ByteSink> sink);
  void write(std::int64_t job, const JobTraits& traits);
  /// No more rows come: all are written when this returns. Throws InputError when they cannot be.
  void finish();
  /// finish(), then gives the file its name.
  void close();

 private:
  std::unique_ptr<ByteSink> sink_;
  std::string text_;
};

}  // namespace replay
