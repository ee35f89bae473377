#include "scheduler/study/printed.hpp"

#include <algorithm>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay::study {
namespace {

std::vector<std::string_view> cells_of_line(std::string_view line) {
  std::vector<std::string_view> cells = split(line, '|');
  for (std::string_view& cell : cells) {
    cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    cell = cell.substr(0, cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

}  // namespace

Printed::Printed(std::string_view text) {
  std::vector<std::string_view> head;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) {
      head.clear();
      continue;
    }
    const std::vector<std::string_view> cells = cells_of_line(line);
    if (head.empty() || head.back().empty()) {
      if (!head.empty()) head.pop_back();
      head.insert(head.end(), cells.begin(), cells.end());
      continue;
    }
    INVARIANT(cells.size() == head.size(), "{} cells in place of {}: {}", cells.size(), head.size(), line);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].empty()) continue;
      const auto number = parse_finite(cells[i]);
      INVARIANT(number, "no number: {}", cells[i]);
      INVARIANT(numbers_.insert({{head[0], cells[0], head[i]}, *number}).second, "twice: {}", line);
    }
  }
}

std::optional<double> Printed::find(std::string_view table, std::string_view row, std::string_view column) const {
  const auto found = numbers_.find({table, row, column});
  return found == numbers_.end() ? std::nullopt : std::optional{found->second};
}

double Printed::at(std::string_view table, std::string_view row, std::string_view column) const {
  const auto number = find(table, row, column);
  INVARIANT(number, "not printed: {}, {}, {}", table, row, column);
  return *number;
}

void Printed::expect_columns_in(const Table& table) const {
  for (const auto& [names, number] : numbers_)
    INVARIANT(names[0] != table.id || std::ranges::find(table.columns, names[2], &Column::name) != table.columns.end(),
              "{}: no column {}", table.id, names[2]);
}

}  // namespace replay::study
