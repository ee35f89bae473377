// Makes a table, and charts from tables: columns that know how their values follow from what a line is about, with the
// paper's numbers beside them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/study/findings.hpp"
#include "scheduler/study/result.hpp"

namespace replay::study {

struct Line {
  std::string name;
  std::string key = name;       ///< stands for "*" in the paths of the columns
  std::string in_print = name;  ///< what the paper's line is called; empty: it has none
};
/// `path` with the key in place of "*".
[[nodiscard]] std::string filled(std::string_view path, std::string_view key);
/// A line for each; its key is `path` with the name in place of "*".
[[nodiscard]] std::vector<Line> lines_of(const auto& names, std::string_view path = "*") {
  std::vector<Line> lines;
  for (const auto& name : names) {
    const std::string text = fmt::format("{}", name);
    lines.push_back({text, filled(path, text)});
  }
  return lines;
}
/// Without those whose key is a cell that was not run.
[[nodiscard]] std::vector<Line> lines_that_ran(const Findings& findings, std::vector<Line> lines);

/// What a table says of itself, as Table has it; `note` if it has one.
struct Head {
  std::string id{}, title{}, row_name{}, source{}, note{};
};

class Sheet {
 public:
  /// The paper's numbers are those printed under the table's id, or as the table `in_print`.
  Sheet(const Findings& findings, Head head, std::vector<Line> lines, std::string_view in_print = {});

  /// ours(i): of line i.
  void column(Column column, const std::function<double(std::size_t line)>& ours);
  /// The mean over the seeds, `scale` times.
  void mean(Column column, std::string_view path, double scale = 1);
  /// The arithmetic mean.
  void average(Column column, std::string_view path, double scale = 1);
  /// By how many per cent the mean of a figure is lower in `cell` than in `base`, or higher.
  void less(Column column, std::string_view cell, std::string_view base, std::string_view figure);
  void more(Column column, std::string_view cell, std::string_view base, std::string_view figure);
  /// Columns "seed 1" to the last; of_seeds(i) has a value for each, or fewer.
  void seeds(const std::string& unit, int decimals,
             const std::function<std::vector<double>(std::size_t line)>& of_seeds);
  /// Half of the 95 % confidence interval of the mean: what other seeds could make of it. NaN of one seed.
  void interval(const std::string& unit, int decimals,
                const std::function<std::vector<double>(std::size_t line)>& of_seeds);

  [[nodiscard]] std::string filled(std::string_view path, std::size_t line) const {
    return study::filled(path, lines_[line].key);
  }
  void note(std::string text) { table_.notes.push_back(std::move(text)); }
  [[nodiscard]] const Table& table() const;

 private:
  const Findings& findings_;
  Table table_;
  std::vector<Line> lines_;
  std::string in_print_;
};

/// By how many per cent a figure is lower in one cell than in another.
struct GainLine {
  std::string name, cell, base, figure;
  std::string in_print = name;
};
/// The mean, its confidence interval if asked for, and each seed's. `sign` -1: by how many it is higher.
[[nodiscard]] Table gain_table(const Findings& findings, Head head, const std::vector<GainLine>& lines,
                               std::string_view why, int decimals_of_seeds, bool has_interval, double sign = 1);

/// A bar for each line in each column's series, ours or the paper's; NaN, which a bar cannot have, is none. `head` has the
/// names.
[[nodiscard]] report::BarChart bars_of(const Table& table, report::BarChart head, bool is_paper = false);
/// A curve for each column over the numbers that the lines are called by; without points that are NaN. Behind them the
/// paper's, of columns that have some. Their names are those of the columns without `prefix`.
[[nodiscard]] CurveChart curves_of(const Table& table, CurveChart head, std::string_view prefix = {});

}  // namespace replay::study
