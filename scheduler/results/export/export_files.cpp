#include "scheduler/results/export/export_files.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <system_error>

#include "scheduler/base/error.hpp"

namespace replay::results {
namespace fs = std::filesystem;
namespace {

// "easy" for runs/compare/easy/events.log; the file's own name for a log that is called otherwise.
std::string run_name(const fs::path& log, bool with_parent) {
  const fs::path file = fs::absolute(log).lexically_normal();
  const fs::path folder = file.parent_path();
  const std::string own =
      file.filename() == "events.log" && folder.has_filename() ? folder.filename().string() : file.stem().string();
  const fs::path parent = folder.parent_path();
  return with_parent && parent.has_filename() ? fmt::format("{}-{}", parent.filename().string(), own) : own;
}

// A name for each log, all different.
std::vector<std::string> run_names(std::span<const fs::path> logs) {
  std::map<std::string, int> count;
  for (const fs::path& log : logs) ++count[run_name(log, false)];
  std::vector<std::string> names;
  std::map<std::string, int> used;
  for (const fs::path& log : logs) {
    std::string name = run_name(log, false);
    if (count[name] > 1) name = run_name(log, true);
    if (const int again = ++used[name]; again > 1) name += fmt::format("-{}", again);
    names.push_back(std::move(name));
  }
  return names;
}

ExportFiles files_of(const std::string& stem, const ExportFormat& format, std::string_view compressed = "") {
  ExportFiles files;
  for (const std::string_view suffix : format.suffixes)
    files.push_back(fmt::format("{}{}{}", stem, suffix, files.empty() ? compressed : ""));
  return files;
}

// `out` names the first file, with its suffix or without.
ExportFiles files_named(const std::string& out, const ExportFormat& format) {
  if (format.suffixes.size() == 1) return {out};
  std::string stem = out;
  std::string_view compressed;
  if (stem.ends_with(".gz")) {
    compressed = ".gz";
    stem.resize(stem.size() - compressed.size());
  }
  if (stem.size() > format.suffixes.front().size() && stem.ends_with(format.suffixes.front()))
    stem.resize(stem.size() - format.suffixes.front().size());
  return files_of(stem, format, compressed);
}

bool is_folder(const std::string& out) {
  std::error_code error;
  return out.ends_with('/') || fs::is_directory(out, error);
}

}  // namespace

std::vector<PlannedExport> plan_exports(std::span<const fs::path> logs, const ExportFormat& format,
                                        const std::string& out) {
  if (out == "-" && (logs.size() != 1 || format.suffixes.size() != 1))
    throw UsageError(fmt::format("-o -: expected one run and a format of one file, found {} runs and {} of {} files",
                                 logs.size(), format.name, format.suffixes.size()));
  if (logs.size() == 1 && !out.empty() && !is_folder(out)) return {{logs.front(), files_named(out, format)}};
  const fs::path folder = out;
  std::error_code error;
  if (!out.empty() && !fs::create_directories(folder, error) && error)
    throw InputError(fmt::format("-o {}: cannot be made: {}", out, error.message()));
  std::vector<PlannedExport> planned;
  const std::vector<std::string> names = run_names(logs);
  for (std::size_t i = 0; i < logs.size(); ++i)
    planned.push_back({logs[i], files_of((folder / names[i]).string(), format)});
  return planned;
}

}  // namespace replay::results
