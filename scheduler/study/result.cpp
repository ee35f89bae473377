#include "scheduler/study/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/csv_file.hpp"

namespace replay::study {
namespace {

constexpr std::string_view kNotExplained = "not explained";

bool has_paper(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const Row& row) { return row.values[column].paper.has_value(); });
}

std::string number(double value, int decimals) {
  return std::isnan(value) ? std::string{"-"} : fmt::format("{:.{}f}", value, decimals);
}

std::string unit_behind_number(const std::string& unit) {
  if (unit.empty() || unit == "ratio") return {};
  return unit == "%" ? " points" : " " + unit;
}

// "nothing" where no difference is allowed.
std::string band_text(const Column& column) {
  std::string text;
  if (column.band->relative > 0) text = fmt::format("{:.0f} %", column.band->relative * 100);
  if (column.band->absolute > 0)
    add_item(text, " or ", "{:g}{}", column.band->absolute, unit_behind_number(column.unit));
  return text.empty() ? "nothing" : text;
}

std::string csv_cell(std::string_view text) {
  std::string memory;
  return std::string{CsvFile::quoted(text, memory)};
}

}  // namespace

bool Band::contains(double ours, double paper) const {
  return std::abs(ours - paper) <= std::max(absolute, relative * std::abs(paper));
}

bool Table::is_outside(std::size_t row, std::size_t column) const {
  const Value& value = rows[row].values[column];
  const auto& band = columns[column].band;
  return band && value.paper && !std::isnan(value.ours) && !band->contains(value.ours, *value.paper);
}

std::vector<std::vector<std::string>> cells_of(const Table& table) {
  std::vector<std::vector<std::string>> lines{{table.row_name}};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto& column = table.columns[c];
    lines[0].push_back(column.unit.empty() ? column.name : fmt::format("{}, {}", column.name, column.unit));
    if (has_paper(table, c)) lines[0].emplace_back("paper");
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> line{table.rows[r].name};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Value& value = table.rows[r].values[c];
      const int decimals = table.columns[c].decimals;
      line.push_back(number(value.ours, decimals) + (table.is_outside(r, c) ? "*" : ""));
      if (has_paper(table, c)) line.push_back(value.paper ? number(*value.paper, decimals) : "");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> remarks_of(const Table& table) {
  using Reason = std::pair<std::string, std::string>;           // band, why
  std::vector<std::pair<Reason, std::vector<std::string>>> of;  // and the columns that it is about
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    bool has_outside = false;
    for (std::size_t r = 0; r < table.rows.size(); ++r) has_outside = has_outside || table.is_outside(r, c);
    if (!has_outside) continue;
    const Column& column = table.columns[c];
    const Reason reason{band_text(column), column.why.empty() ? std::string{kNotExplained} : column.why};
    auto known = std::ranges::find(of, reason, [](const auto& entry) { return entry.first; });
    if (known == of.end()) known = of.insert(of.end(), {reason, {}});
    known->second.push_back(column.name);
  }
  std::vector<std::string> remarks = table.notes;
  for (const auto& [reason, names] : of)
    remarks.push_back(
        fmt::format("* {}: further than {} from the paper: {}", fmt::join(names, "; "), reason.first, reason.second));
  return remarks;
}

std::string to_csv(const Result& result) {
  std::string csv = "table,row,column,unit,ours,paper,inside_band\n";
  for_each_number(result, [&](const Table& table, std::size_t r, std::size_t c) {
    const auto& [ours, paper] = table.rows[r].values[c];
    const bool is_compared = table.columns[c].band && paper && !std::isnan(ours);
    csv += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(table.id), csv_cell(table.rows[r].name),
                       csv_cell(table.columns[c].name), csv_cell(table.columns[c].unit),
                       std::isnan(ours) ? std::string{} : fmt::format("{:.10g}", ours),
                       paper ? fmt::format("{:.10g}", *paper) : std::string{},
                       !is_compared             ? ""
                       : table.is_outside(r, c) ? "no"
                                                : "yes");
  });
  return csv;
}

std::string verdict_of(const Check& check) {
  if (check.holds) return "holds";
  return fmt::format("does not hold: {}", check.why.empty() ? std::string{kNotExplained} : check.why);
}

}  // namespace replay::study
