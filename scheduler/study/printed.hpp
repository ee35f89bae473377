// The numbers that a paper prints, as text: tables of the same names as those of the page, each behind an empty line.
// The first line of a table has its name and its columns, and goes on behind a '|' at its end; the others have a row each.
// An empty cell was not printed.
//
//   table 1 | conservative | slack
//   1996-09 | 440.6        | 440.6
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "scheduler/study/result.hpp"

namespace replay::study {

class Printed {
 public:
  /// `text` outlives it. INVARIANT: a cell that is not empty is a number; rows have as many cells as their table's first
  /// line; no row is there twice.
  explicit Printed(std::string_view text);

  /// Nothing: not printed.
  [[nodiscard]] std::optional<double> find(std::string_view table, std::string_view row, std::string_view column) const;
  /// REQUIRES: it is printed.
  [[nodiscard]] double at(std::string_view table, std::string_view row, std::string_view column) const;
  /// INVARIANT: the page's table has every column that is printed under its id, so that no number gets lost by its name.
  void expect_columns_in(const Table& table) const;

 private:
  std::map<std::array<std::string_view, 3>, double> numbers_;  // by table, row, column
};

}  // namespace replay::study
