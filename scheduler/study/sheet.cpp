#include "scheduler/study/sheet.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/metrics/confidence.hpp"

namespace replay::study {

std::string filled(std::string_view path, std::string_view key) {
  std::string text{path};
  if (const std::size_t star = text.find('*'); star != std::string::npos) text.replace(star, 1, key);
  return text;
}

std::vector<Line> lines_that_ran(const Findings& findings, std::vector<Line> lines) {
  std::erase_if(lines, [&](const Line& line) { return !findings.has(line.key); });
  return lines;
}

Sheet::Sheet(const Findings& findings, Head head, std::vector<Line> lines, std::string_view in_print)
    : findings_(findings), lines_(std::move(lines)), in_print_(in_print.empty() ? head.id : std::string{in_print}) {
  table_ = {.id = std::move(head.id),
            .title = std::move(head.title),
            .source = std::move(head.source),
            .row_name = std::move(head.row_name)};
  if (!head.note.empty()) note(std::move(head.note));
  for (const Line& line : lines_) table_.rows.push_back({line.name});
}

void Sheet::column(Column column, const std::function<double(std::size_t line)>& ours) {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    table_.rows[i].values.push_back({ours(i), findings_.printed().find(in_print_, lines_[i].in_print, column.name)});
  table_.columns.push_back(std::move(column));
}

void Sheet::mean(Column column, std::string_view path, double scale) {
  this->column(std::move(column), [&](std::size_t line) { return findings_.mean("{}", filled(path, line)) * scale; });
}

void Sheet::average(Column column, std::string_view path, double scale) {
  this->column(std::move(column),
               [&](std::size_t line) { return findings_.average("{}", filled(path, line)) * scale; });
}

void Sheet::less(Column column, std::string_view cell, std::string_view base, std::string_view figure) {
  this->column(std::move(column),
               [&](std::size_t line) { return findings_.less(filled(cell, line), filled(base, line), figure); });
}

void Sheet::more(Column column, std::string_view cell, std::string_view base, std::string_view figure) {
  this->column(std::move(column),
               [&](std::size_t line) { return findings_.more(filled(cell, line), filled(base, line), figure); });
}

void Sheet::seeds(const std::string& unit, int decimals,
                  const std::function<std::vector<double>(std::size_t line)>& of_seeds) {
  for (std::uint64_t seed = 0; seed < findings_.seeds(); ++seed)
    column({fmt::format("seed {}", seed + 1), unit, decimals}, [&](std::size_t line) {
      const std::vector<double> values = of_seeds(line);
      return seed < values.size() ? values[seed] : kNoValue;
    });
}

void Sheet::interval(const std::string& unit, int decimals,
                     const std::function<std::vector<double>(std::size_t line)>& of_seeds) {
  column({"+- (95 %)", unit, decimals}, [&](std::size_t line) { return metrics::estimate(of_seeds(line)).half_width; });
}

const Table& Sheet::table() const {
  findings_.printed().expect_columns_in(table_);
  return table_;
}

Table gain_table(const Findings& findings, Head head, const std::vector<GainLine>& lines, std::string_view why,
                 int decimals_of_seeds, bool has_interval, double sign) {
  constexpr Band kGainBand{.absolute = 10};  // percentage points
  std::vector<Line> names;
  names.reserve(lines.size());
  for (const GainLine& line : lines) names.push_back({.name = line.name, .in_print = line.in_print});
  Sheet sheet{findings, std::move(head), std::move(names)};
  const auto by_seed = [&](std::size_t i) {
    std::vector<double> gains = findings.less_by_seed(lines[i].cell, lines[i].base, lines[i].figure);
    gains.resize(findings.seeds(), kNoValue);
    for (double& gain : gains) gain *= sign;
    return gains;
  };
  sheet.column({"mean", "%", 1, kGainBand, std::string{why}}, [&](std::size_t i) {
    return sign * findings.less(lines[i].cell, lines[i].base, lines[i].figure) + 0.0;
  });
  if (has_interval) sheet.interval("%", 1, by_seed);
  sheet.seeds("%", decimals_of_seeds, by_seed);
  return sheet.table();
}

report::BarChart bars_of(const Table& table, report::BarChart head, bool is_paper) {
  for (const Row& row : table.rows) head.labels.push_back(row.name);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    auto& series = head.series.emplace_back(report::BarSeries{table.columns[c].name, {}});
    for (const Row& row : table.rows) {
      const double height = is_paper ? row.values[c].paper.value_or(0) : row.values[c].ours;
      series.values.push_back(std::isnan(height) ? 0 : height);
    }
  }
  return head;
}

CurveChart curves_of(const Table& table, CurveChart head, std::string_view prefix) {
  std::vector<Curve> printed;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = table.columns[c].name.substr(prefix.size());
    Curve ours{.name = name, .colour = c}, theirs{.name = name + ", paper", .is_paper = true, .colour = c};
    for (const Row& row : table.rows) {
      const auto x = parse_finite(row.name);
      INVARIANT(x, "no number: {}", row.name);
      const Value& value = row.values[c];
      if (!std::isnan(value.ours)) ours.points.push_back({*x, value.ours});
      if (value.paper) theirs.points.push_back({*x, *value.paper});
    }
    head.curves.push_back(std::move(ours));
    if (!theirs.points.empty()) printed.push_back(std::move(theirs));
  }
  head.curves.insert(head.curves.end(), printed.begin(), printed.end());
  return head;
}

}  // namespace replay::study
