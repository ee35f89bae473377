// A trace as tools handle it: the records of an SWF file one by one, each with what the side file beside it says about
// that job. Tools read one stream and write another, so that whatever they do to a trace happens to its side file too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job_traits.hpp"
#include "traces/job_table.hpp"
#include "traces/swf_reader.hpp"
#include "traces/swf_writer.hpp"

namespace replay {

/// A record, and what the side file says about its job; traits are empty where it says nothing.
struct TraceEntry {
  SwfRecord record;
  JobTraits traits;
};

/// The entry as the queue of the machine saw it: the job came when it could start, and its wait counts from then. When it
/// started stays.
void wait_from_eligible(TraceEntry& entry);

struct TraceReaderOptions {
  SwfReaderOptions swf{};
  std::optional<std::string> job_table{};  ///< path of the side file; nothing: the one beside the trace, if it is there
};

class TraceReader {
 public:
  /// A path, "-" for standard input. Throws what SwfReader and JobTableReader throw.
  explicit TraceReader(const std::string& path, const TraceReaderOptions& options = {});
  /// From memory or a pipe; a side file only where the options name one.
  explicit TraceReader(std::unique_ptr<ByteSource> source, const TraceReaderOptions& options = {});

  /// False at the end. Throws InputError; with swf.strict also at the end if there are unknown_jobs().
  [[nodiscard]] bool next(TraceEntry& entry);
  /// The same without traits, which traits_of() gives then.
  [[nodiscard]] bool next(SwfRecord& record);
  /// What the side file says about the job of the record that was read last; nothing if it says nothing. Throws InputError.
  [[nodiscard]] std::optional<JobTraits> traits_of(std::int64_t job);

  [[nodiscard]] const SwfHeader& header() const { return swf_.header(); }
  /// The reader of the records: lines, comments and broken lines so far.
  [[nodiscard]] const SwfReader& swf() const { return swf_; }
  /// The side file, if there is one.
  [[nodiscard]] const std::optional<JobTableReader>& job_table() const { return table_; }
  [[nodiscard]] std::optional<JobTableReader>& job_table() { return table_; }
  /// Rows of the side file whose jobs the trace does not have; known at the end of the trace.
  [[nodiscard]] const JobTableReader::Unused& unknown_jobs() const { return unknown_; }

 private:
  void find_unknown_jobs();

  SwfReader swf_;
  bool is_strict_;
  std::optional<JobTableReader> table_;
  JobTableReader::Unused unknown_;
};

/// odd_line_report() of the records, and the rows of the side file that were ignored.
[[nodiscard]] std::vector<std::string> odd_line_report(const TraceReader& reader);
/// "of t.jobs.csv for jobs that are not in the trace, the first: job 9 in line 4", for reports that count such rows.
[[nodiscard]] std::string unknown_jobs_text(const TraceReader& reader);

struct TraceWriterOptions {
  std::optional<std::string> job_table{};  ///< path of the side file; nothing: beside the trace
  bool force = false;                      ///< replace files that exist
};

/// Creates the side file with the first entry that needs one. Both files appear under their names only in close(), so a
/// tool that fails leaves nothing half written; standard output is written as it comes.
class TraceWriter {
 public:
  /// A path, "-" for standard output; gzip if it ends in ".gz". Throws InputError if the trace or its side file exists and
  /// `force` is not given.
  explicit TraceWriter(const std::string& path, TraceWriterOptions options = {});
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void write(const SwfHeader& header) { swf_.write(header); }
  /// Throws UsageError if the entry has traits, the trace goes to standard output and no side file was named.
  void write(const TraceEntry& entry);
  void write_comments(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) swf_.write_comment(line);
  }
  /// Everything is written, and in place, when this returns. Replaces an old side file even where there is no new one.
  void close();

  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  [[nodiscard]] JobTableWriter& table();
  [[nodiscard]] std::optional<std::string> compressed_table() const;

  TraceWriterOptions options_;
  std::optional<std::string> table_path_;
  SwfWriter swf_;
  std::optional<JobTableWriter> table_;
  std::uint64_t records_ = 0;
};

/// All entries that are left, with their comments, each after `change`. The writer is not closed.
void copy_entries(TraceReader& from, TraceWriter& to, const std::function<void(TraceEntry&)>& change);

}  // namespace replay
