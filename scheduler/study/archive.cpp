#include "scheduler/study/archive.hpp"

#include <fmt/format.h>

#include <system_error>

namespace replay::study {
namespace fs = std::filesystem;

namespace {

std::optional<fs::path> find_log(const fs::path& folder, const ArchiveLog& log) {
  std::error_code ignored;
  for (const std::string_view name : log.files)
    for (const std::string_view ending : {".swf", ".swf.gz"}) {
      if (name.empty()) continue;
      const fs::path path = folder / fmt::format("{}{}", name, ending);
      if (fs::is_regular_file(path, ignored)) return path;
    }
  return std::nullopt;
}

std::string missing_text(const fs::path& folder, const ArchiveLog& log) {
  return fmt::format(
      "{}: expected {}.swf or {}.swf.gz in {}, found neither; the archive has it: "
      "https://www.cs.huji.ac.il/labs/parallel/workload/{}/index.html",
      log.name, log.files.front(), log.files.front(), folder.string(), log.page);
}

}  // namespace

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

}  // namespace replay::study
