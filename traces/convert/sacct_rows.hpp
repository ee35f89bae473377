// The rows of a dump of sacct as cells. sacct prints free text as users wrote it, so a cell of it may hold the separator
// and ends of lines: such a row is put together where every cell of another kind reads, and Start + Elapsed = End.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "traces/local_time.hpp"

namespace replay::sacct {

/// The columns that are read. Others are passed over.
enum class Column : std::uint8_t {
  kJobId,
  kJobIdRaw,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsedRaw,
  kElapsed,
  kSuspended,
  kPlanned,
  kReserved,
  kRestarts,
  kAllocCpus,
  kNCpus,
  kAllocTres,
  kReqCpus,
  kReqTres,
  kTotalCpu,
  kTimeLimitRaw,
  kTimeLimit,
  kReqMem,
  kMaxRss,
  kState,
  kUser,
  kUid,
  kGroup,
  kGid,
  kAccount,
  kJobName,
  kPartition,
  kQos,
  kNNodes,
  kCluster,
  kSubmitLine,
  kColumns  ///< how many there are
};
[[nodiscard]] std::string_view name_of(Column column);

/// What a cell of a column can hold.
enum class CellKind : std::uint8_t {
  kId,
  kTime,
  kElapsed,
  kCount,
  kResources,
  kMemory,
  kState,
  kWord,      ///< a name without blanks
  kFreeText,  ///< what users write
  kEmpty,     ///< behind the last separator of --parsable
  kOther
};

class Rows {
 public:
  /// Reads the header row. Throws InputError if there is none, or a column that is needed is missing.
  Rows(std::unique_ptr<ByteSource> source, LocalClock clock);

  /// The next row; false at the end. Further header rows (of dumps in one file) count for what follows them. Throws
  /// InputError, without the place, for a line that belongs to no row; the next call goes on behind it.
  [[nodiscard]] bool next();

  [[nodiscard]] bool has(Column column) const;
  /// Of the row in hand; empty if the dump does not have the column.
  [[nodiscard]] std::string_view cell(Column column) const;

  [[nodiscard]] const std::string& name() const { return lines_.name(); }
  /// Number of the line in which the row in hand begins, from 1.
  [[nodiscard]] std::size_t line() const { return line_; }
  /// Lines passed over because they go on with the text in the last column of a row.
  [[nodiscard]] std::uint64_t continued() const { return continued_; }

 private:
  struct Line {
    std::string text;
    std::size_t number = 0;
    bool too_long = false;
  };
  class Placing;

  void read_header_row();
  void adopt_header(std::string_view text);
  void expect_needed_columns(std::string_view text) const;
  [[nodiscard]] static bool is_header(std::string_view text);
  [[nodiscard]] bool take_line();
  [[nodiscard]] const Line* look_ahead(std::size_t lines);
  [[nodiscard]] bool place(std::string_view text);
  [[nodiscard]] bool is_row(std::string_view text);
  [[nodiscard]] bool may_begin_row() const;
  [[nodiscard]] bool join_lines();
  [[nodiscard]] bool fits(std::size_t column, std::string_view cell) const;
  [[nodiscard]] bool times_agree(const std::vector<std::string_view>& cells) const;
  void remember_words();

  LineReader lines_;
  LocalClock clock_;
  std::vector<std::size_t> places_;  // of each Column: its cell in a row, or npos
  std::vector<CellKind> kinds_;      // of each cell of a row
  std::size_t before_text_ = 0;      // cells in front of the first free text
  bool ends_in_text_ = false;
  bool words_decide_ = false;  // free text stands on both sides of a word

  std::deque<Line> ahead_;  // lines that were looked at, not taken
  std::string own_text_;    // of the row in hand, if it did not come straight from lines_
  std::string_view text_;   // of the row in hand
  bool too_long_ = false;
  std::size_t line_ = 0;
  std::vector<std::string_view> cells_;
  std::unordered_set<std::string> words_;  // of rows without a doubt: "COLUMN|WORD"
  bool has_row_ = false;
  bool ambiguous_ = false;
  std::uint64_t continued_ = 0;
};

}  // namespace replay::sacct
