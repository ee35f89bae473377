#include "traces/trace_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kStandardStream = "-";

std::optional<std::string> table_of(const std::string& trace, const TraceReaderOptions& options) {
  return options.job_table ? options.job_table : find_beside(trace, kJobTableEnding);
}

void refuse_if_there(const std::string& path) {
  if (path == kStandardStream) return;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw InputError(fmt::format("{}: expected a file, found a directory", path));
  if (fs::is_regular_file(path, ignored))
    throw InputError(fmt::format("{}: exists already: --force replaces it", path));
}

}  // namespace

void wait_from_eligible(TraceEntry& entry) {
  SwfRecord& record = entry.record;
  if (!entry.traits.eligible || record.submit < Duration::zero()) return;
  Duration later = *entry.traits.eligible;
  if (record.wait >= Duration::zero()) {
    later = std::min(later, record.wait);
    record.wait -= later;
  }
  record.submit += later;
  entry.traits.eligible.reset();
}

TraceReader::TraceReader(const std::string& path, const TraceReaderOptions& options)
    : swf_(path, options.swf), is_strict_(options.swf.strict) {
  if (const auto table = table_of(path, options)) table_.emplace(*table);
}

TraceReader::TraceReader(std::unique_ptr<ByteSource> source, const TraceReaderOptions& options)
    : swf_(std::move(source), options.swf), is_strict_(options.swf.strict) {
  if (options.job_table) table_.emplace(*options.job_table);
}

bool TraceReader::next(TraceEntry& entry) {
  if (!next(entry.record)) return false;
  entry.traits = traits_of(entry.record.job).value_or(JobTraits{});
  return true;
}

bool TraceReader::next(SwfRecord& record) {
  if (swf_.next(record)) return true;
  if (table_) find_unknown_jobs();
  return false;
}

void TraceReader::find_unknown_jobs() {
  unknown_ = table_->unused();
  if (is_strict_ && unknown_.count > 0)
    throw InputError(table_->name(), unknown_.line,
                     fmt::format("expected a job of the trace, found {}, which it does not have", unknown_.job));
}

std::vector<std::string> odd_line_report(const TraceReader& reader) {
  std::vector<std::string> lines = odd_line_report(reader.swf());
  if (const std::size_t count = reader.unknown_jobs().count; count > 0)
    lines.push_back(fmt::format("ignored: {} {}", counted(count, "row"), unknown_jobs_text(reader)));
  return lines;
}

std::string unknown_jobs_text(const TraceReader& reader) {
  const JobTableReader::Unused& unknown = reader.unknown_jobs();
  return fmt::format("of {} for jobs that are not in the trace, the first: job {} in line {}",
                     reader.job_table() ? reader.job_table()->name() : "", unknown.job, unknown.line);
}

std::optional<JobTraits> TraceReader::traits_of(std::int64_t job) {
  if (!table_ || job < 0) return std::nullopt;
  return table_->find(job);
}

TraceWriter::TraceWriter(const std::string& path, TraceWriterOptions options)
    : options_(std::move(options)),
      table_path_(options_.job_table ? options_.job_table : job_table_beside(path)),
      swf_([&] {
        if (table_path_ == path)
          throw UsageError(fmt::format("{}: cannot be the trace and its side file; expected two files", path));
        if (!options_.force) refuse_if_there(path);
        if (!options_.force && table_path_) refuse_if_there(*table_path_);
        if (const auto compressed = compressed_table(); compressed && !options_.force) refuse_if_there(*compressed);
        return open_sink(path);
      }()) {}

void TraceWriter::write(const TraceEntry& entry) {
  swf_.write(entry.record);
  ++records_;
  if (!entry.traits.empty()) table().write(entry.record.job, entry.traits);
}

// A reader of the trace would find it.
std::optional<std::string> TraceWriter::compressed_table() const {
  if (!table_path_ || options_.job_table) return std::nullopt;
  return *table_path_ + ".gz";
}

JobTableWriter& TraceWriter::table() {
  if (!table_path_)
    throw UsageError(
        "the jobs declare what SWF has no fields for: expected --jobs-to FILE or --output FILE to say where that "
        "goes");
  if (!table_) table_.emplace(open_sink(*table_path_));
  return *table_;
}

void TraceWriter::close() {
  swf_.finish();
  if (table_) table_->finish();
  swf_.close();  // neither has its name before both are complete
  if (table_) table_->close();
  std::error_code ignored;
  if (!table_ && table_path_ && !options_.job_table) fs::remove(*table_path_, ignored);  // of the replaced trace
  if (const auto compressed = compressed_table()) fs::remove(*compressed, ignored);      // the same
}

void copy_entries(TraceReader& from, TraceWriter& to, const std::function<void(TraceEntry&)>& change) {
  for (TraceEntry entry; from.next(entry);) {
    to.write_comments(from.swf().comments());
    change(entry);
    to.write(entry);
  }
  to.write_comments(from.swf().comments());
}

}  // namespace replay
