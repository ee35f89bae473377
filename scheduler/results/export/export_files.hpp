// Where the files of exports go.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "scheduler/results/export/formats.hpp"

namespace replay::results {

/// One run and the files to make of it.
struct PlannedExport {
  std::filesystem::path log;
  ExportFiles files;
};

/// For each event log the paths of its files. `out` is "-" (standard output, for one run in a format of one file), a folder
/// (one that is there or ends in '/', and with several runs any), which is made if it is not there, or the name of the first
/// file, of which the others get their names; empty: the working folder. In a folder files have the name of the run's folder,
/// with that of the folder around it where several runs have the same. Throws UsageError, InputError.
[[nodiscard]] std::vector<PlannedExport> plan_exports(std::span<const std::filesystem::path> logs,
                                                      const ExportFormat& format, const std::string& out);

}  // namespace replay::results
