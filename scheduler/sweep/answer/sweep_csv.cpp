#include "scheduler/sweep/answer/sweep_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "scheduler/base/text/parse_number.hpp"

namespace replay::sweep {
namespace {

constexpr std::string_view kFirst = "cell", kMetric = "metric", kValue = "value";

std::vector<const CellResult*> in_order(const StudyResults& results) {
  std::vector<const CellResult*> cells;
  cells.reserve(results.cells.size());
  for (const CellResult& cell : results.cells) cells.push_back(&cell);
  std::ranges::stable_sort(
      cells, {}, [](const CellResult* cell) -> const auto& { return cell->values; });
  return cells;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : lines_(open_source(file.string())) {
    results_.name = std::filesystem::absolute(file).lexically_normal().parent_path().filename().string();
  }

  StudyResults read() {
    if (!next_row()) fail("expected a first line with the columns' names, found an empty file");
    read_columns();
    while (next_row()) read_row();
    for (Axis& axis : results_.axes) sort_numbers(axis);
    for (CellResult& cell : results_.cells)
      if (std::ranges::all_of(cell.metrics, [](const auto& entry) { return std::isnan(entry.second); }))
        cell.failure = "it has no value in sweep.csv";
    results_.planned = results_.cells.size();
    return std::move(results_);
  }

 private:
  [[noreturn]] void fail(std::string_view message) const { throw InputError(lines_.name(), lines_.number(), message); }

  bool next_row() {
    auto line = lines_.next();
    if (!line) return false;
    for (bool is_whole = row_.begin(line->text); !is_whole; is_whole = row_.go_on(line->text))
      if (line->too_long || !(line = lines_.next())) fail("a cell in quotation marks does not end");
    if (line->too_long) fail("the line is too long");
    return true;
  }

  [[nodiscard]] std::string text_of(std::size_t column) const {
    return std::string{without_guard(row_.cells()[column])};
  }

  void read_columns() {
    const std::size_t columns = row_.cells().size();
    if (columns < 3 || row_.cells()[0] != kFirst || row_.cells()[columns - 2] != kMetric ||
        row_.cells()[columns - 1] != kValue)
      fail(fmt::format(
          "expected the columns '{},<axis>,...,{},{}' of a study's sweep.csv, found {} that begin with '{}'", kFirst,
          kMetric, kValue, columns, row_.cells()[0]));
    for (std::size_t i = 1; i + 2 < columns; ++i) results_.axes.push_back({text_of(i), {}});
    numbers_.resize(results_.axes.size());
  }

  void read_row() {
    const std::size_t axes = results_.axes.size();
    if (row_.cells().size() != axes + 3)
      fail(fmt::format("expected {} cells, found {}", axes + 3, row_.cells().size()));
    CellResult& cell = cell_named(text_of(0));
    const std::string metric = text_of(axes + 1);
    if (std::ranges::find(results_.metrics, metric) == results_.metrics.end()) results_.metrics.push_back(metric);
    if (!cell.metrics.emplace(metric, value_in(row_.cells()[axes + 2])).second)
      fail(fmt::format("cell {} has a second value of {}", cell.id, metric));
  }

  CellResult& cell_named(const std::string& id) {
    std::vector<std::size_t> values;
    for (std::size_t i = 0; i < results_.axes.size(); ++i) values.push_back(value_number(i, text_of(i + 1)));
    const auto [found, is_new] = cells_.try_emplace(id, results_.cells.size());
    if (is_new && !seen_.insert(values).second)
      fail(fmt::format("cell {} has the same values of the axes as a cell above", id));
    if (is_new) results_.cells.push_back({.id = id, .values = values, .version = {}, .failure = {}, .metrics = {}});
    CellResult& cell = results_.cells[found->second];
    if (cell.values != values) fail(fmt::format("cell {} has other values of the axes than above", id));
    return cell;
  }

  std::size_t value_number(std::size_t axis, const std::string& text) {
    const auto [found, is_new] = numbers_[axis].try_emplace(text, results_.axes[axis].values.size());
    if (is_new) results_.axes[axis].values.push_back(text);
    return found->second;
  }

  double value_in(std::string_view text) const {
    if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
    if (const auto value = parse_finite(text)) return *value;
    fail(fmt::format("value: expected a number or nothing, found '{}'", text));
  }

  // Where the first cells are missing, the values of an axis come in another order than the plan's.
  void sort_numbers(const Axis& axis) {
    const auto at = static_cast<std::size_t>(&axis - results_.axes.data());
    std::vector<double> numbers;
    for (const std::string& text : axis.values)
      if (const auto number = parse_finite(text)) numbers.push_back(*number);
    if (numbers.size() != axis.values.size()) return;
    std::vector<std::size_t> order(numbers.size()), place(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return numbers[i]; });
    std::vector<std::string> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(axis.values[order[i]]);
    }
    for (CellResult& cell : results_.cells) cell.values[at] = place[cell.values[at]];
    results_.axes[at].values = std::move(sorted);
  }

  LineReader lines_;
  CsvRow row_;
  StudyResults results_;
  std::map<std::string, std::size_t> cells_;
  std::set<std::vector<std::size_t>> seen_;                  // their values
  std::vector<std::map<std::string, std::size_t>> numbers_;  // of each axis: its values' numbers
};

}  // namespace

void write_sweep_csv(const std::filesystem::path& file, const StudyResults& results) {
  std::string memory, columns{kFirst};
  for (const Axis& axis : results.axes) columns.append(",").append(CsvFile::quoted(axis.name, memory));
  CsvFile csv(file, fmt::format("{},{},{}", columns, kMetric, kValue));
  std::string head;
  for (const CellResult* const cell : in_order(results)) {
    head = CsvFile::quoted(cell->id, memory);
    for (std::size_t i = 0; i < results.axes.size(); ++i)
      head.append(",").append(CsvFile::quoted(results.axes[i].values[cell->values[i]], memory));
    for (const std::string& metric : results.metrics) {
      const auto found = cell->metrics.find(metric);
      const bool has_value = cell->failure.empty() && found != cell->metrics.end();
      const std::string_view name = CsvFile::quoted(metric, memory);
      CsvLine line = csv.begin_line(1, head.size() + name.size() + 2);
      line.word(head);
      line.word(name);
      line.ratio(has_value ? found->second : std::numeric_limits<double>::quiet_NaN());
      csv.end_line(line);
    }
  }
  csv.close();
}

StudyResults read_sweep_csv(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace replay::sweep
