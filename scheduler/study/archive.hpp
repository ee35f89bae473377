// The logs that the papers used, as the Parallel Workloads Archive names them: finds them on this machine, and makes
// the message for a missing one.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::study {

struct ArchiveLog {
  std::string_view name;                ///< as the papers and options call it: "CTC"
  std::vector<std::string_view> files;  ///< names without .swf, the best one first
  std::string_view page;                ///< of the archive: "l_ctc_sp2"
  CoreCount processors;                 ///< as the papers take it
};

[[nodiscard]] const ArchiveLog& kth_log();
[[nodiscard]] const ArchiveLog& ctc_log();
[[nodiscard]] const ArchiveLog& sdsc_sp2_log();
[[nodiscard]] const ArchiveLog& sdsc_blue_log();
[[nodiscard]] const ArchiveLog& lanl_log();

/// The first of its files that is in `folder`, as .swf or .swf.gz.
[[nodiscard]] std::optional<std::filesystem::path> find_log(const std::filesystem::path& folder, const ArchiveLog& log);
struct FoundLog {
  const ArchiveLog* log;
  std::filesystem::path file;
};
struct LogSearch {
  std::vector<FoundLog> found;       ///< in the order asked for
  std::vector<std::string> missing;  ///< missing_text() of the others
};
[[nodiscard]] LogSearch find_logs(const std::filesystem::path& folder, std::span<const ArchiveLog* const> logs);

/// One line: which file is not where, and the page of the archive that has it.
[[nodiscard]] std::string missing_text(const std::filesystem::path& folder, const ArchiveLog& log);

}  // namespace replay::study
