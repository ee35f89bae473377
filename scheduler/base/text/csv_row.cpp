#include "scheduler/base/text/csv_row.hpp"

#include "scheduler/base/text/split.hpp"

namespace replay {

bool is_formula(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of("' ");
  return first != std::string_view::npos && std::string_view{"=+-@\t\r"}.find(cell[first]) != std::string_view::npos;
}

std::string_view without_guard(std::string_view cell) {
  return cell.starts_with('\'') && is_formula(cell) ? cell.substr(1) : cell;
}

bool CsvRow::begin(std::string_view line) {
  cells_.clear();
  text_.clear();
  ends_.clear();
  in_quotes_ = false;
  if (line.find('"') != std::string_view::npos) return cut(line);
  for_each_part(line, ',',
                [this](std::size_t /*index*/, std::string_view cell) { cells_.push_back(without_guard(cell)); });
  return true;
}

bool CsvRow::go_on(std::string_view line) {
  text_ += '\n';
  return cut(line);
}

bool CsvRow::cut(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && in_quotes_ && i + 1 < line.size() && line[i + 1] == '"')
      text_ += line[i++];
    else if (line[i] == '"')
      in_quotes_ = !in_quotes_;
    else if (line[i] == ',' && !in_quotes_)
      ends_.push_back(text_.size());
    else
      text_ += line[i];
  }
  if (in_quotes_) return false;
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    cells_.push_back(without_guard(std::string_view{text_}.substr(begin, end - begin)));
    begin = end;
  }
  cells_.push_back(without_guard(std::string_view{text_}.substr(begin)));
  return true;
}

}  // namespace replay
