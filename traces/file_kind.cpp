#include "traces/file_kind.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/byte_source.hpp"
#include "scheduler/base/file/line_reader.hpp"
#include "scheduler/base/text/lower_case.hpp"
#include "scheduler/base/text/shell_words.hpp"
#include "scheduler/base/text/split.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_record.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

// The cells of a header row, without quotation marks and in lower case.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (std::string_view cell : split(line, separator)) {
    if (cell.size() > 1 && cell.starts_with('"') && cell.ends_with('"')) cell = cell.substr(1, cell.size() - 2);
    cells.push_back(lower_case(std::string{cell}));
  }
  return cells;
}

bool has(const std::vector<std::string>& cells, std::string_view name) {
  return std::ranges::find(cells, name) != cells.end();
}

std::optional<FileKind> table_kind(const std::vector<std::string>& cells) {
  if (has(cells, "job_number") && has(cells, "submit_s")) return FileKind::kTraceCsv;
  if (has(cells, "submission_time") && (has(cells, "job_id") || has(cells, "jobid"))) return FileKind::kJobs;
  if (has(cells, "time_s") && has(cells, "queued_jobs")) return FileKind::kSeries;
  if (has(cells, "nodes") && has(cells, "state")) return FileKind::kNodes;
  if (cells.front() != "job") return std::nullopt;
  if (has(cells, "beside")) return FileKind::kPairs;
  return has(cells, "from_s") ? FileKind::kStretches : FileKind::kSideFile;
}

std::optional<FileKind> kind_of(std::string_view line) {
  if (line.starts_with("#replay-events")) return FileKind::kEventLog;
  if (line.starts_with('{')) return FileKind::kJson;
  if (is_pbs_record(line)) return FileKind::kPbs;
  if (is_lsf_record(line)) return FileKind::kLsf;
  const auto is_job_id = [](const std::string& cell) { return cell == "jobid" || cell == "jobidraw"; };
  if (line.find('|') != std::string_view::npos)
    return std::ranges::any_of(cells_of(line, '|'), is_job_id) ? std::optional{FileKind::kSacct} : std::nullopt;
  if (line.find(',') != std::string_view::npos) return table_kind(cells_of(line, ','));
  const std::string lower = lower_case(std::string{line});
  const std::size_t from = std::min(lower.find_first_not_of(' '), lower.size());
  const std::size_t to = lower.find(' ', from);
  const bool is_table = to != std::string::npos && is_job_id(lower.substr(from, to - from));
  return is_table ? std::optional{FileKind::kSacctTable} : std::nullopt;
}

std::string text_of(FileKind kind, std::string_view name) {
  const std::string file = name == "standard input" ? "-" : quoted_word(name);
  switch (kind) {
    case FileKind::kSwf:
      return fmt::format(
          "a trace in SWF: `replay --trace {} --policy LIST` runs its jobs, `replay simulate` the same in virtual time",
          file);
    case FileKind::kSacct:
      return fmt::format("a dump of sacct: `replay trace convert {} --from sacct -o LOG.swf` makes a trace of it",
                         file);
    case FileKind::kSacctTable:
      return "sacct's table for people: `sacct --parsable2 ...` prints what `replay trace convert --from sacct` reads";
    case FileKind::kPbs:
      return fmt::format(
          "an accounting log of PBS: `replay trace convert {} --from pbs -o LOG.swf` makes a trace of it", file);
    case FileKind::kLsf:
      return fmt::format("LSF's lsb.acct: `replay trace convert {} --from lsf -o LOG.swf` makes a trace of it", file);
    case FileKind::kTraceCsv:
      return fmt::format("a trace as CSV: `replay trace convert {} --from csv -o LOG.swf` makes SWF of it", file);
    case FileKind::kJobs:
      return fmt::format(
          "a table of jobs of a run: `replay audit {}` checks it; the run as SWF is the schedule.swf beside it, and "
          "`replay rerun FOLDER` runs its trace again",
          file);
    case FileKind::kSideFile:
      return "a side file, which belongs to a trace: --trace NAME.swf reads the NAME.jobs.csv beside it, --jobs-from "
             "another one";
    case FileKind::kNodes:
      return "node events, which belong to a trace: `replay simulate --trace NAME.swf` reads the NAME.nodes.csv beside "
             "it, --nodes-from another one";
    case FileKind::kPairs:
      return "slowdowns of pairs of jobs, which belong to a trace: --runtime-model pairs --pairs reads them";
    case FileKind::kSeries: return "what a run's machine did over time: `replay plot FOLDER` draws it";
    case FileKind::kStretches: return "the stretches of a run's jobs, which `replay export` made for other programs";
    case FileKind::kEventLog:
      return "the event log of a run, whose folder `replay report`, `why` and `audit` read: `replay rerun` runs it "
             "again";
    case FileKind::kJson:
      return "JSON: of a run's folder it is read by `replay report` and `rerun`; --profile reads a profile, "
             "scojo-p:predict=FILE a forecast";
    case FileKind::kRunFolder:
      return fmt::format(
          "the folder of a run: `replay rerun {}` runs its trace again, `replay report`, `results`, `audit` and `diff` "
          "read it",
          file);
  }
  return "";
}

KnownFile known(FileKind kind, std::string_view name) { return {kind, text_of(kind, name)}; }

// Whether the folder has a file that each run has.
bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return std::ranges::any_of(std::initializer_list<const char*>{"run.json", "events.log", "jobs.csv"},
                             [&](const char* file) { return fs::exists(folder / file, ignored); });
}

// A run, or a folder with nothing but runs in it, as a command with several policies makes it.
bool is_of_runs(const fs::path& folder) {
  if (is_run(folder)) return true;
  std::error_code error;
  bool has_run = false;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error)) continue;
    if (!is_run(entry.path())) return false;
    has_run = true;
  }
  return has_run;
}

}  // namespace

bool is_pbs_record(std::string_view line) {
  constexpr std::string_view kDate = "00/00/0000 00:00:00";
  if (line.size() < kDate.size()) return false;
  for (std::size_t i = 0; i < kDate.size(); ++i)
    if (kDate[i] == '0' ? line[i] < '0' || line[i] > '9' : line[i] != kDate[i]) return false;
  // Perhaps with a fraction of a second.
  const std::size_t semicolon = line.find(';');
  return semicolon < kDate.size() + 8 && semicolon + 2 < line.size() && line[semicolon + 2] == ';';
}

bool is_lsf_record(std::string_view line) {
  constexpr std::string_view kTypes[] = {"\"JOB_FINISH\" ", "\"EVENT_ADRSV_FINISH\" ", "\"JOB_RESIZE\" "};
  return std::ranges::any_of(kTypes, [&](std::string_view type) { return line.starts_with(type); });
}

std::optional<KnownFile> kind_of_text(std::string_view line, std::string_view name) {
  const auto kind = kind_of(line);
  return kind ? std::optional{known(*kind, name)} : std::nullopt;
}

std::optional<KnownFile> kind_of_path(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return is_of_runs(path) ? std::optional{known(FileKind::kRunFolder, path)} : std::nullopt;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    LineReader lines{open_source(path)};
    auto line = lines.next();
    while (line && (line->text.empty() || line->text.starts_with(';'))) line = lines.next();
    if (!line || line->too_long) return std::nullopt;
    SwfRecord record;
    std::string problem;
    int fields = 0;
    if (parse_swf_line(line->text, record, problem, fields)) return known(FileKind::kSwf, path);
    return kind_of_text(line->text, path);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void expect_no_run_folder(const std::string& path) {
  std::error_code error;
  if (path != "-" && fs::is_directory(path, error) && is_of_runs(path))
    throw InputError(
        fmt::format("{}: expected a trace in SWF, found {}", path, known(FileKind::kRunFolder, path).text));
}

}  // namespace replay
