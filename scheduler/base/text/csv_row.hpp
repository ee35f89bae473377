// Rows of CSV files, read as RFC 4180 has them: a cell in quotation marks may hold commas, doubled quotation marks and
// line ends. A text that a spreadsheet would run as a formula stands behind an apostrophe in our files; here it is the
// text again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

/// Whether a spreadsheet would read the cell as a formula: behind blanks it begins with = + - @, a tab or CR. Apostrophes
/// before that are passed over, so that a text with some gets one more, and is told from one without.
[[nodiscard]] bool is_formula(std::string_view cell);
/// The text of a cell: without the apostrophe that CsvFile::quoted() has put before it.
[[nodiscard]] std::string_view without_guard(std::string_view cell);

/// The cells of one row at a time. Keeps its memory for the next one.
class CsvRow {
 public:
  /// Cuts the first line of a row into cells. Returns whether the row is complete; if not, a quoted cell goes on in the
  /// next line: go_on().
  bool begin(std::string_view line);
  /// REQUIRES: the row was not complete.
  bool go_on(std::string_view line);

  /// At least one. They point into the line or into this object: valid while both are, until the next begin().
  [[nodiscard]] std::span<const std::string_view> cells() const { return cells_; }

 private:
  bool cut(std::string_view line);

  std::vector<std::string_view> cells_;
  // Of a row with quotation marks:
  std::string text_;               // its cells without them, one behind the other
  std::vector<std::size_t> ends_;  // in text_, of all cells but the last
  bool in_quotes_ = false;
};

}  // namespace replay
