// Writes the files of a run's folder except events.log: jobs.csv (Batsim's and Evalys' columns first, then ours) and
// schedule.swf, both row by row during the run; metrics.json, series.csv, run.json. Each has its page in docs/formats/.
// The same log gives the same bytes. A file gets its name only when it is complete; a file that cannot be written (also
// on a full disk) is an InputError that names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/metrics/core_names.hpp"
#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/summary.hpp"
#include "traces/swf_writer.hpp"

namespace replay::results {

/// The names that --outputs takes: run, events, jobs, swf, metrics, series.
[[nodiscard]] const std::set<std::string>& output_names();

/// "all" (also ""), "none", or names joined by commas. Throws UsageError for an unknown one.
[[nodiscard]] std::set<std::string> parse_outputs(std::string_view list);

class JobsCsv {
 public:
  /// `bound` of the bounded slowdown.
  JobsCsv(const std::filesystem::path& file, const log::Header& header, Duration bound);
  void put(const metrics::JobRow& row, std::string_view reason, std::span<const metrics::CoreRange> used_cores);
  /// Everything is written when this returns.
  void close() { cells_.close(); }

 private:
  std::string workload_;                         // as a cell
  std::string program_, clean_reason_, reason_;  // of the row that is written
  Duration bound_;
  CsvFile cells_;
};

class ScheduleSwf {
 public:
  /// `jobs`: the expected number, for the header.
  ScheduleSwf(const std::filesystem::path& file, const log::Header& header, CoreCount cores, std::size_t jobs);
  void put(const metrics::JobRow& row);
  /// Everything is written when this returns; the header has the actual number of jobs.
  void close();

 private:
  SwfHeader header_;
  SwfWriter writer_;
  std::size_t expected_;
  std::size_t jobs_ = 0;
};

void write_metrics_json(const std::filesystem::path& file, const log::Header& header, const metrics::JobSums& sums,
                        const metrics::Series& series, const metrics::Summary& summary);
void write_series_csv(const std::filesystem::path& file, const metrics::Series& series);
/// Indents by two blanks and ends with a line end; bytes that are not UTF-8 are replaced.
void write_json(const std::filesystem::path& file, const nlohmann::ordered_json& json);

/// A file that the run depends on.
struct InputFile {
  std::string path;
  std::string sha256;  ///< what `sha256sum` prints
  std::uint64_t bytes = 0;
};
/// Reads the file as it is (compressed or not). Throws InputError.
[[nodiscard]] InputFile input_file(const std::filesystem::path& path);

/// The contents of run.json: enough to repeat the run and to judge its conditions.
struct RunInfo {
  std::string command;
  std::string working_folder;                                 ///< where it was given: relative paths begin here
  std::vector<std::pair<std::string, std::string>> versions;  ///< program, compiler, mpich, ...
  std::string body;                                           ///< sim or live
  std::string machine;
  std::string policy;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of the policy, defaults too
  std::string runtime_model;
  std::uint64_t seed = 0;
  double time_scale = 1;
  std::vector<std::pair<std::string, std::string>> settings;  ///< how jobs were run for real; empty for a simulation
  std::vector<InputFile> inputs;
  std::size_t jobs = 0;  ///< of the trace, as it was read
  std::string started;   ///< wall clock, ISO 8601
  std::string ended;     ///< empty: the run is not over, or was killed
  bool interrupted = false;
  std::string lost;                    ///< why the executor was lost; empty: it was not
  std::string fault;                   ///< what the policy did that ended the run; empty: nothing
  std::string broken_off;              ///< why no further job was started; empty: all were
  std::vector<std::string> unwritten;  ///< files that could not be written, each with the reason
  bool disturbed = false;              ///< others used the machine before or after
  double load_before = -1;             ///< share of CPU time that others used; -1: not measured
  double load_after = -1;
  std::vector<std::string> notes;
};
[[nodiscard]] nlohmann::ordered_json to_json(const RunInfo& info);

}  // namespace replay::results
