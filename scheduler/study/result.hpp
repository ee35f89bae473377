// The result of a study: tables with the paper's numbers beside ours, figures, and statements of the paper with what
// we found. Pages, terminal tables and the CSV are made from it, so that all three agree.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/report/chart.hpp"
#include "scheduler/study/curve_chart.hpp"

namespace replay::study {

/// One number, ours and the paper's.
struct Value {
  double ours = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not simulated
  std::optional<double> paper{};                           ///< nothing: the paper does not print it
};

/// The largest difference to the paper's number that the page need not explain.
struct Band {
  double relative = 0;  ///< share of the paper's value
  double absolute = 0;  ///< in the column's unit
  [[nodiscard]] bool contains(double ours, double paper) const;
};

struct Column {
  std::string name{};
  std::string unit{};  ///< "s", "%", "points", "ratio", "jobs", "times"
  int decimals = 1;
  std::optional<Band> band{};  ///< nothing: the numbers are not compared
  std::string why{};           ///< why numbers are outside the band; empty: not explained
};

struct Row {
  std::string name;
  std::vector<Value> values{};  ///< one a column
};

struct Table {
  std::string id{};      ///< in the CSV: "table 1"
  std::string title{};   ///< "Table 1: ..."
  std::string source{};  ///< where the paper's numbers are from
  std::string row_name{};
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  std::vector<std::string> notes{};

  [[nodiscard]] bool is_outside(std::size_t row, std::size_t column) const;
};

/// The head and a line a row, as text: ours and, where a column has any, the paper's. A star marks ours outside the
/// band.
[[nodiscard]] std::vector<std::vector<std::string>> cells_of(const Table& table);
/// The notes; then what the stars mean, and why, for the columns that have some. A line each.
[[nodiscard]] std::vector<std::string> remarks_of(const Table& table);

/// A statement of the paper, and whether it holds here.
struct Check {
  std::string statement{};
  bool holds = true;
  std::string found{};  ///< our numbers
  std::string why{};    ///< why it does not hold; empty: not explained

  /// Adds numbers behind `separator`, unless they are the first. What they are of has to hold too.
  template <class... Values>
  void list(bool holds_here, std::string_view separator, fmt::format_string<Values...> format, Values&&... values) {
    holds = holds && holds_here;
    add_item(found, separator, format, std::forward<Values>(values)...);
  }
  template <class... Values>
  void add(bool holds_here, fmt::format_string<Values...> format, Values&&... values) {
    list(holds_here, "; ", format, std::forward<Values>(values)...);
  }
};
/// Whether two numbers differ by `most` or less.
[[nodiscard]] inline bool is_near(double ours, double paper, double most) { return std::abs(ours - paper) <= most; }

struct Figure {
  std::string title;
  std::vector<std::variant<CurveChart, report::BarChart>> panels{};  ///< two in a row
};

struct Section {
  std::string title;
  std::vector<std::string> text{};
  std::vector<Figure> figures{};
  std::vector<Table> tables{};
};

struct Result {
  std::string name;                   ///< "slack": names the files
  std::string title;                  ///< of the page
  std::string paper;                  ///< what is reproduced: authors, title, where
  std::vector<std::string> about{};   ///< how the numbers were made, a paragraph each
  std::vector<std::string> limits{};  ///< what was left out: logs, sets, everything that --quick leaves out
  std::vector<Check> checks{};
  std::vector<Section> sections{};
};

/// Calls visit(table, row, column) for every number, by indices.
void for_each_number(const Result& result, const auto& visit) {
  for (const Section& section : result.sections)
    for (const Table& table : section.tables)
      for (std::size_t r = 0; r < table.rows.size(); ++r)
        for (std::size_t c = 0; c < table.columns.size(); ++c) visit(table, r, c);
}
/// Every number of every table: table,row,column,unit,ours,paper,inside_band. A header row first.
[[nodiscard]] std::string to_csv(const Result& result);
/// "holds", "does not hold: WHY", with "not explained" where there is no why.
[[nodiscard]] std::string verdict_of(const Check& check);

}  // namespace replay::study
