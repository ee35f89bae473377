#include "scheduler/runtime_model/pair_table.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/csv_row.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/model/contention.hpp"

namespace replay {
namespace {

constexpr std::string_view kColumns = "job,beside,slowdown";

// One row; fails with what was expected and found. `csv`: for its memory.
void read_row(std::string_view row, CsvRow& csv, const std::string& file, std::size_t line, PairTable& table) {
  const auto fail = [&](std::string_view expected, std::string_view found) {
    throw InputError(file, line, fmt::format("expected {}, found '{}'", expected, visible_text(found, 40)));
  };
  const bool is_complete = csv.begin(row);
  const std::span cells = csv.cells();
  if (!is_complete || cells.size() != 3) fail("three cells job,beside,slowdown", row);
  const auto job = parse_number<std::int64_t>(cells[0]), beside = parse_number<std::int64_t>(cells[1]);
  const auto slowdown = parse_number<double>(cells[2]);
  if (!job || *job < 0) fail("a job number as 'job'", cells[0]);
  if (!beside || *beside < 0) fail("a job number as 'beside'", cells[1]);
  if (!slowdown || !(*slowdown >= kLeastStatedSlowdown && *slowdown <= kMostStatedSlowdown))
    fail(fmt::format("a slowdown of {} to {} as 'slowdown'", kLeastStatedSlowdown, kMostStatedSlowdown), cells[2]);
  if (!table.add(JobId{*job}, JobId{*beside}, *slowdown))
    fail("each pair once", fmt::format("{} beside {} a second time", *job, *beside));
}

}  // namespace

double PairTable::slowdown(JobId job, JobId beside) const {
  const auto row = of_.find(job);
  if (row == of_.end()) return 1;
  const auto cell = row->second.find(beside);
  return cell == row->second.end() ? 1 : cell->second;
}

bool PairTable::add(JobId job, JobId beside, double slowdown) {
  const bool is_new = of_[job].emplace(beside, slowdown).second;
  if (is_new) ++size_;
  return is_new;
}

PairTable read_pairs(const std::string& path) {
  LineReader lines(open_source(path));
  PairTable table;
  CsvRow csv;
  bool has_columns = false;
  while (const auto line = lines.next()) {
    if (line->too_long)
      throw InputError(path, lines.number(), "expected a row of at most a few cells, found a longer line");
    if (!has_columns && !(csv.begin(line->text) && fmt::format("{}", fmt::join(csv.cells(), ",")) == kColumns))
      throw InputError(path, lines.number(),
                       fmt::format("expected the columns {}, found '{}'", kColumns, visible_text(line->text, 40)));
    if (has_columns && !line->text.empty()) read_row(line->text, csv, path, lines.number(), table);
    has_columns = true;
  }
  if (!has_columns) throw InputError(fmt::format("{}: expected the columns {}, found nothing", path, kColumns));
  return table;
}

}  // namespace replay
