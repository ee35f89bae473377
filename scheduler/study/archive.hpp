// The logs that the papers used, as the Parallel Workloads Archive names them: finds them on this machine, and makes
// the message for a missing one.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::study {

struct ArchiveLog {
  std::string_view name;                  ///< as the papers and options call it: "CTC"
  std::array<std::string_view, 2> files;  ///< names without .swf, the best one first; empty: there is no other
  std::string_view page;                  ///< of the archive: "l_ctc_sp2"
  CoreCount processors;                   ///< as the papers take it
};

// If the archive has several cleaned versions of a log, the others are substitutes, and the page names the file. The
// EASY reference files hold the same jobs as the logs that they were made from, except those that cannot run.
inline constexpr ArchiveLog kKthLog{"KTH", {"KTH-SP2-1996-2", "KTH-SP2-1996-2.1-cln"}, "l_kth_sp2", 100},
    kCtcLog{"CTC", {"CTC-SP2-1996-3.1-cln", "CTC-SP2-EASY-reference"}, "l_ctc_sp2", 430},
    kSdscSp2Log{"SDSC", {"SDSC-SP2-1998-4.2-cln", "SDSC-SP2-EASY-reference"}, "l_sdsc_sp2", 128},
    kSdscBlueLog{"SDSC-BLUE", {"SDSC-BLUE-2000-4.2-cln"}, "l_sdsc_blue", 1152},
    kLanlLog{"LANL", {"LANL-CM5-1994-4.1-cln"}, "l_lanl_cm5", 1024};

struct FoundLog {
  const ArchiveLog* log;
  std::filesystem::path file;
};
struct LogSearch {
  std::vector<FoundLog> found;       ///< in the order asked for: the first file in `folder`, as .swf or .swf.gz
  std::vector<std::string> missing;  ///< a line each: which file is not where, and the page of the archive that has it
};
[[nodiscard]] LogSearch find_logs(const std::filesystem::path& folder, std::span<const ArchiveLog* const> logs);

}  // namespace replay::study
