// The formats that a run can be exported to, in one table: the command, its help, docs/export.md and the tests read it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scheduler/results/export/run_log.hpp"

namespace replay::results {

struct ExportFormat {
  std::string_view name;                       ///< as --to takes it
  std::span<const std::string_view> suffixes;  ///< of its files' names; the first may be followed by ".gz"
  std::string_view opened_by;
  std::string_view holds;
  std::string_view loses;
  /// Makes the files (writers.hpp). Throws InputError, ExportStopped.
  Remarks (*write)(const RunLog& run, const ExportFiles& files);
};

/// In the order of the help.
[[nodiscard]] std::span<const ExportFormat> export_formats();

/// Throws UsageError naming those that there are.
[[nodiscard]] const ExportFormat& export_format(std::string_view name);

/// All of them for a terminal: files, programs, what each holds and loses.
[[nodiscard]] std::string export_format_list();

/// The same as a table in Markdown, which stands in docs/export.md.
[[nodiscard]] std::string export_format_table();

}  // namespace replay::results
