// What the runs of a page are called, and which of them are compared, from the paths of their logs alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace replay::report {

/// A folder of a cell of `replay validate`, what its run is called in a page, and the folder of the run that it is compared with.
struct CellRun {
  std::string_view folder, title, against;
};
/// In the order of a page.
inline constexpr CellRun kCellRuns[] = {
    {"sim", "simulated", ""}, {"real", "real", "sim"}, {"measured", "simulated with measured times", "real"}};

/// The log's folder, or the log itself if it has another name than events.log; absolute, without "." and "..".
[[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& log);
/// Its place among kCellRuns if `run` is a run of a cell: named so, and the cell has a simulated run. Else null.
[[nodiscard]] const CellRun* cell_run_of(const std::filesystem::path& run);

/// One for each log: the end of its path, as long as it takes to be the only one; "30/easy: real" in a cell. A run that is
/// given twice gets a number, too.
[[nodiscard]] std::vector<std::string> run_names(std::span<const std::filesystem::path> logs);

/// What stands behind a run's name: " (incomplete, one of 10 seeds)", for example; empty for a whole run of one seed.
[[nodiscard]] std::string run_mark(const std::filesystem::path& log, bool is_complete);

/// The run that run `i` is compared with: CellRun::against of its cell, if that is in the page; else the first.
[[nodiscard]] std::size_t compared_with(std::span<const std::filesystem::path> logs, std::size_t i);

}  // namespace replay::report
