// What a file is, and which command or option reads it: for readers that were given one of another kind. It is told by
// the first line that is no comment, never by the name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replay {

enum class FileKind : std::uint8_t {
  kSwf,
  kSacct,       ///< what `sacct --parsable2` prints
  kSacctTable,  ///< what sacct prints for people
  kPbs,         ///< an accounting log of PBS
  kLsf,         ///< LSF's lsb.acct
  kTraceCsv,    ///< a trace as CSV
  kJobs,        ///< jobs.csv of a run, or Batsim's table of jobs
  kSideFile,    ///< NAME.jobs.csv beside a trace
  kNodes,       ///< NAME.nodes.csv beside a trace
  kPairs,       ///< NAME.pairs.csv beside a trace
  kSeries,      ///< series.csv of a run
  kStretches,   ///< NAME_stretches.csv of `replay export`
  kEventLog,    ///< events.log of a run
  kJson,        ///< any of ours
  kRunFolder    ///< the folder of a run, or of runs
};

struct KnownFile {
  FileKind kind;
  std::string text;  ///< for a message that ends "..., found ": what it is, and what reads it
};

/// The kind of the file that is called `name` and begins with `line`, comments left out; nothing if it is SWF or unknown.
[[nodiscard]] std::optional<KnownFile> kind_of_text(std::string_view line, std::string_view name);

/// Whether a line begins like a record of PBS's accounting: "MM/DD/YYYY HH:MM:SS;E;".
[[nodiscard]] bool is_pbs_record(std::string_view line);
/// Whether a line begins like a record of LSF's lsb.acct: "JOB_FINISH" in quotation marks.
[[nodiscard]] bool is_lsf_record(std::string_view line);

/// The kind of what is at `path`; nothing if it is unknown, or cannot be read.
[[nodiscard]] std::optional<KnownFile> kind_of_path(const std::string& path);

/// Throws InputError that names what reads it if `path` is the folder of a run, or of runs.
void expect_no_run_folder(const std::string& path);

}  // namespace replay
