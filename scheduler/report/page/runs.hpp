// `replay report`: which runs its arguments name, and their page.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "scheduler/report/page/run_data.hpp"

namespace replay::report {

/// Runs in one page.
inline constexpr std::size_t kMostRuns = 16;

/// The event logs of run folders, of folders of runs (several policies, the first of several seeds, cells of `replay
/// validate`; sorted by path) and of files as they are. Throws InputError: there is none, or there are more than kMostRuns.
[[nodiscard]] std::vector<std::filesystem::path> logs_of(std::span<const std::string> runs);

/// "report.html" in the folder that the one argument names, or in which its log is; with several in the working folder.
[[nodiscard]] std::filesystem::path page_beside(std::span<const std::string> runs);

/// Reads the runs and writes their page to `out`, "-" is standard output; it gets its name when it is complete. `title` empty:
/// the names of the runs. `given`: what the user calls each run, in commands that the page names; empty: their paths. Throws
/// InputError.
void write_page_of(std::span<const std::filesystem::path> logs, const std::string& title, const std::string& out,
                   const PageLimits& limits = {}, std::span<const std::string> given = {});

}  // namespace replay::report
