#include "scheduler/study/archive.hpp"

#include <fmt/format.h>

#include <system_error>

namespace replay::study {
namespace fs = std::filesystem;

// If the archive has several cleaned versions of a log, the others are substitutes, and the page names the file. The
// EASY reference files hold the same jobs as the logs that they were made from, except those that cannot run.
const ArchiveLog& kth_log() {
  static const ArchiveLog log{"KTH", {"KTH-SP2-1996-2", "KTH-SP2-1996-2.1-cln"}, "l_kth_sp2", 100};
  return log;
}
const ArchiveLog& ctc_log() {
  static const ArchiveLog log{"CTC", {"CTC-SP2-1996-3.1-cln", "CTC-SP2-EASY-reference"}, "l_ctc_sp2", 430};
  return log;
}
const ArchiveLog& sdsc_sp2_log() {
  static const ArchiveLog log{"SDSC", {"SDSC-SP2-1998-4.2-cln", "SDSC-SP2-EASY-reference"}, "l_sdsc_sp2", 128};
  return log;
}
const ArchiveLog& sdsc_blue_log() {
  static const ArchiveLog log{"SDSC-BLUE", {"SDSC-BLUE-2000-4.2-cln"}, "l_sdsc_blue", 1152};
  return log;
}
const ArchiveLog& lanl_log() {
  static const ArchiveLog log{"LANL", {"LANL-CM5-1994-4.1-cln"}, "l_lanl_cm5", 1024};
  return log;
}

std::optional<fs::path> find_log(const fs::path& folder, const ArchiveLog& log) {
  std::error_code ignored;
  for (const std::string_view name : log.files)
    for (const std::string_view ending : {".swf", ".swf.gz"}) {
      const fs::path path = folder / fmt::format("{}{}", name, ending);
      if (fs::is_regular_file(path, ignored)) return path;
    }
  return std::nullopt;
}

LogSearch find_logs(const fs::path& folder, std::span<const ArchiveLog* const> logs) {
  LogSearch search;
  for (const ArchiveLog* log : logs) {
    if (auto file = find_log(folder, *log))
      search.found.push_back({log, std::move(*file)});
    else
      search.missing.push_back(missing_text(folder, *log));
  }
  return search;
}

std::string missing_text(const fs::path& folder, const ArchiveLog& log) {
  return fmt::format(
      "{}: expected {}.swf or {}.swf.gz in {}, found neither; the archive has it: "
      "https://www.cs.huji.ac.il/labs/parallel/workload/{}/index.html",
      log.name, log.files.front(), log.files.front(), folder.string(), log.page);
}

}  // namespace replay::study
