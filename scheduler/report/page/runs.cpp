#include "scheduler/report/page/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/report/page/differences.hpp"
#include "scheduler/report/page/page.hpp"
#include "scheduler/report/page/run_names.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/output_names.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

// FOLDER/seed-1/POLICY/events.log, or cells/30/poisson/POLICY/real/events.log of `replay validate`.
constexpr int kDeepest = 4;
constexpr const char* kCells = "cells";

// Numbers in names by their value: seed-2 before seed-10; runs of a cell in the order of kCellRuns, before others; a log's own
// schedule before those that are compared with it.
bool comes_before(const fs::path& a, const fs::path& b) {
  const auto is_logged = [](const fs::path& run) { return run.filename() == "logged"; };
  if (is_logged(a) != is_logged(b)) return is_logged(a);
  const CellRun *const of_a = cell_run_of(a), *const of_b = cell_run_of(b);
  if (of_a != nullptr && of_b != nullptr) return of_a < of_b;
  if (of_a != nullptr || of_b != nullptr) return of_a != nullptr;
  return ::strverscmp(a.filename().c_str(), b.filename().c_str()) < 0;
}

// The event logs below a folder, sorted. A folder that has one is not searched further.
void add_logs_below(const fs::path& folder, int depth, std::vector<fs::path>& logs) {
  std::error_code error;
  expect_readable(folder);
  if (fs::is_regular_file(folder / "events.log", error)) {
    logs.push_back(folder / "events.log");
    return;
  }
  if (depth == kDeepest) return;
  std::vector<fs::path> below = entries_of(folder);
  std::erase_if(below, [&error](const fs::path& entry) {
    return !fs::is_directory(entry, error) || fs::is_symlink(entry, error);
  });
  std::ranges::sort(below, comes_before);
  for (const fs::path& next : below) add_logs_below(next, depth + 1, logs);
}

std::vector<fs::path> logs_below(const fs::path& folder) {
  std::vector<fs::path> logs;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return logs;
  const bool is_validation = fs::is_directory(folder / kCells, error);
  add_logs_below(is_validation ? folder / kCells : folder, 0, logs);
  return logs;
}

// Of runs with several seeds those of the first.
void keep_first_seed(std::vector<fs::path>& logs) {
  if (logs.empty()) return;
  const fs::path first = logs.front().parent_path().parent_path();
  std::erase_if(logs, [&first](const fs::path& log) { return log.parent_path().parent_path() != first; });
}

// The first ones, if there are many.
std::string joined_names(std::span<const std::string> names) {
  constexpr std::size_t kMost = 4;
  const bool has_all = names.size() <= kMost;
  if (has_all) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.first(kMost - 1), ", "), names.size() - kMost + 1);
}

}  // namespace

std::vector<fs::path> logs_of(std::span<const std::string> runs) {
  std::vector<fs::path> logs;
  for (const std::string& run : runs) {
    std::vector<fs::path> found = logs_below(run);
    std::error_code error;
    if (fs::exists(fs::path{run} / "seeds.json", error)) keep_first_seed(found);
    if (found.empty()) found.push_back(results::event_log_of(run));  // a file, or says what is missing
    logs.insert(logs.end(), found.begin(), found.end());
  }
  if (logs.size() > kMostRuns)
    throw InputError(fmt::format("expected at most {} runs beside each other, found {}: name some of them, such as {}",
                                 kMostRuns, logs.size(), logs.front().parent_path().string()));
  return logs;
}

fs::path page_beside(std::span<const std::string> runs) {
  if (runs.size() != 1) return results::kPageFile;
  std::error_code error;
  const fs::path run = runs.front();
  return (fs::is_directory(run, error) ? run : run.parent_path()) / results::kPageFile;
}

void write_page_of(std::span<const fs::path> logs, const std::string& title, const std::string& out,
                   const PageLimits& limits, std::span<const std::string> given) {
  results::expect_no_log(out, logs);
  std::vector<RunData> runs;
  for (std::size_t i = 0; i < logs.size(); ++i)
    runs.push_back(read_run(logs[i], limits, given.empty() ? "" : given[i]));
  const std::vector<std::string> names = run_names(logs);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = names[i] + run_mark(logs[i], runs[i].is_complete);
  std::vector<PageDifference> differences;
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (auto difference = difference_of(runs, i, compared_with(logs, i), logs))
      differences.push_back(std::move(*difference));
  const std::unique_ptr<ByteSink> sink = open_sink(out);
  write_page(*sink, title.empty() ? joined_names(names) : title, runs, differences);
  sink->close();
}

}  // namespace replay::report
