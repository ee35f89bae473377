#include "traces/trace_stream.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "scheduler/model/error.hpp"

namespace replay {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kStandardStream = "-";

std::optional<std::string> table_of(const std::string& trace, const TraceReaderOptions& options) {
  if (options.job_table) return options.job_table;
  const auto beside = job_table_beside(trace);
  std::error_code ignored;
  return beside && fs::exists(*beside, ignored) ? beside : std::nullopt;
}

// Where a file is written until it is whole; ends as the file does, as ".gz" decides about compression.
std::string unfinished(const std::string& path) {
  const fs::path whole{path};
  return (whole.parent_path() / fmt::format(".{}-{}", ::getpid(), whole.filename().string())).string();
}

void move_into_place(const std::string& path) {
  std::error_code error;
  fs::rename(unfinished(path), path, error);
  if (error) throw InputError(fmt::format("{}: cannot be created: {}", path, error.message()));
}

// What is no regular file, such as /dev/null or a named pipe, is written as it comes.
bool is_written_directly(const std::string& path) {
  std::error_code ignored;
  return path == kStandardStream || (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored));
}

std::string where_to_write(const std::string& path) { return is_written_directly(path) ? path : unfinished(path); }

// What goes wrong names the file that was asked for, not the one that it has until it is whole.
std::unique_ptr<ByteSink> create(const std::string& path) {
  const std::string written = where_to_write(path);
  try {
    return open_sink(written);
  } catch (const InputError& error) {
    std::string message = error.what();
    if (const std::size_t at = message.find(written); at != std::string::npos)
      message.replace(at, written.size(), path);
    throw InputError(message);
  }
}

void refuse_if_there(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw InputError(fmt::format("{}: expected a file, found a directory", path));
  if (fs::is_regular_file(path, ignored))
    throw InputError(fmt::format("{}: exists already: --force replaces it", path));
}

}  // namespace

TraceReader::TraceReader(const std::string& path, const TraceReaderOptions& options) : swf_(path, options.swf) {
  if (const auto table = table_of(path, options)) table_.emplace(*table);
}

TraceReader::TraceReader(std::unique_ptr<ByteSource> source, const TraceReaderOptions& options)
    : swf_(std::move(source), options.swf) {
  if (options.job_table) table_.emplace(*options.job_table);
}

bool TraceReader::next(TraceEntry& entry) {
  if (!next(entry.record)) return false;
  entry.traits = traits_of(entry.record.job).value_or(JobTraits{});
  return true;
}

std::optional<JobTraits> TraceReader::traits_of(std::int64_t job) {
  if (!table_ || job < 0) return std::nullopt;
  return table_->find(job);
}

TraceWriter::TraceWriter(const std::string& path, TraceWriterOptions options)
    : path_(path),
      options_(std::move(options)),
      table_path_(options_.job_table ? options_.job_table : job_table_beside(path)),
      swf_([&] {
        if (table_path_ == path)
          throw UsageError(fmt::format("{}: cannot be the trace and its side file; expected two files", path));
        if (!options_.force && !is_written_directly(path)) refuse_if_there(path);
        if (!options_.force && table_path_) refuse_if_there(*table_path_);
        return create(path);
      }()) {}

TraceWriter::~TraceWriter() {
  if (closed_) return;
  std::error_code ignored;
  if (!is_written_directly(path_)) fs::remove(unfinished(path_), ignored);
  if (table_) fs::remove(unfinished(*table_path_), ignored);
}

void TraceWriter::write(const TraceEntry& entry) {
  swf_.write(entry.record);
  ++records_;
  if (!entry.traits.empty()) table().write(entry.record.job, entry.traits);
}

JobTableWriter& TraceWriter::table() {
  if (!table_path_)
    throw UsageError(
        "the jobs declare what SWF has no fields for: expected --jobs-to FILE or --output FILE to say where that "
        "goes");
  if (!table_) table_.emplace(create(*table_path_));
  return *table_;
}

void TraceWriter::close() {
  swf_.close();
  if (table_) table_->close();
  if (!is_written_directly(path_)) move_into_place(path_);
  if (table_ && !is_written_directly(*table_path_)) move_into_place(*table_path_);
  std::error_code ignored;
  if (!table_ && table_path_ && !options_.job_table) fs::remove(*table_path_, ignored);  // of the trace that was here
  closed_ = true;
}

}  // namespace replay
