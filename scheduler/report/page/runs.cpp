#include "scheduler/report/page/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_sink.hpp"
#include "scheduler/report/page/differences.hpp"
#include "scheduler/report/page/page.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;  // FOLDER/seed-1/POLICY/events.log

// The event logs below a folder, sorted. A folder that has one is not searched further.
void add_logs_below(const fs::path& folder, int depth, std::vector<fs::path>& logs) {
  std::error_code error;
  if (fs::is_regular_file(folder / "events.log", error)) {
    logs.push_back(folder / "events.log");
    return;
  }
  if (depth == kDeepest) return;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory(error) && !entry.is_symlink(error)) below.push_back(entry.path());
  std::ranges::sort(below);
  for (const fs::path& next : below) add_logs_below(next, depth + 1, logs);
}

// Of runs with several seeds those of the first.
void keep_first_seed(std::vector<fs::path>& logs) {
  if (logs.empty()) return;
  const fs::path first = logs.front().parent_path().parent_path();
  std::erase_if(logs, [&first](const fs::path& log) { return log.parent_path().parent_path() != first; });
}

// Names that several runs have are told apart by their paths.
void tell_apart(std::vector<RunData>& runs) {
  std::map<std::string, int> count;
  for (const RunData& run : runs) ++count[run.name];
  for (RunData& run : runs)
    if (count[run.name] > 1) run.name = run.path;
}

std::string joined_names(std::span<const RunData> runs) {
  std::string text;
  for (const RunData& run : runs) text += (text.empty() ? "" : ", ") + run.name;
  return text;
}

}  // namespace

std::vector<fs::path> logs_of(std::span<const std::string> runs) {
  std::vector<fs::path> logs;
  for (const std::string& run : runs) {
    std::vector<fs::path> found;
    std::error_code error;
    if (fs::is_directory(run, error)) add_logs_below(run, 0, found);
    if (fs::exists(fs::path{run} / "seeds.json", error)) keep_first_seed(found);
    if (found.empty()) found.push_back(results::event_log_of(run));  // a file, or says what is missing
    logs.insert(logs.end(), found.begin(), found.end());
  }
  if (logs.size() > kMostRuns)
    throw InputError(fmt::format("expected at most {} runs for one page, found {}: name some of them, such as {}",
                                 kMostRuns, logs.size(), logs.front().parent_path().string()));
  return logs;
}

fs::path page_beside(std::span<const std::string> runs) {
  if (runs.size() != 1) return "report.html";
  std::error_code error;
  const fs::path run = runs.front();
  return (fs::is_directory(run, error) ? run : run.parent_path()) / "report.html";
}

void write_page_of(std::span<const fs::path> logs, const std::string& title, const std::string& out,
                   const PageLimits& limits) {
  std::vector<RunData> runs;
  for (const fs::path& log : logs) runs.push_back(read_run(log, limits));
  tell_apart(runs);
  std::vector<PageDifference> differences;
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (auto difference = difference_of(runs, i, logs)) differences.push_back(std::move(*difference));
  const std::unique_ptr<ByteSink> sink = open_sink(out);
  write_page(*sink, title.empty() ? joined_names(runs) : title, runs, differences);
  sink->close();
}

}  // namespace replay::report
