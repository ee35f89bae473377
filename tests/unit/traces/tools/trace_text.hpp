// Fixture for the tests of trace tools: traces from text and back to text, so that a test shows input and output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/rereadable_trace.hpp"
#include "traces/trace_stream.hpp"

namespace replay::test {

/// A folder with one input trace and one output trace.
class ToolTest {
 public:
  explicit ToolTest(const std::string& text, const std::string& job_table = {}) {
    write_text(folder_ / "in.swf", text);
    if (!job_table.empty()) write_text(folder_ / "in.jobs.csv", job_table);
  }
  [[nodiscard]] std::string input() const { return (folder_ / "in.swf").string(); }
  [[nodiscard]] std::string output() const { return (folder_ / "out.swf").string(); }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] RereadableTrace trace() const { return RereadableTrace(input()); }

  /// The entries that a tool has written; read strictly, so that a broken line fails the test.
  [[nodiscard]] std::vector<TraceEntry> entries() const {
    TraceReader reader(output(), {.swf = {.strict = true}, .job_table = {}});
    std::vector<TraceEntry> entries;
    for (TraceEntry entry; reader.next(entry);) entries.push_back(entry);
    return entries;
  }
  [[nodiscard]] SwfHeader header() const { return TraceReader(output()).header(); }
  [[nodiscard]] std::vector<std::int64_t> jobs() const {
    std::vector<std::int64_t> numbers;
    for (const TraceEntry& entry : entries()) numbers.push_back(entry.record.job);
    return numbers;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace replay::test
