// Input and output of all commands that turn one trace into another: traces, side files and reports.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "traces/rereadable_trace.hpp"
#include "traces/trace_stream.hpp"

namespace CLI {
class App;  // its header takes four seconds to compile
}  // namespace CLI

namespace replay::cli {

/// More than any trace has; options that count records are checked against it.
inline constexpr std::int64_t kMostRecords = 1'000'000'000'000'000;

struct TraceOutput {
  std::string output = "-";  ///< "-": standard output
  std::string jobs_to;       ///< side file; empty: beside the output
  bool force = false;
};

struct TraceInput {
  std::string input;      ///< "-": standard input
  std::string jobs_from;  ///< side file; empty: beside the input, if there is one
  bool strict = false;
};

/// Of a command that turns one trace into another.
struct TraceFiles {
  TraceInput input;
  TraceOutput output;
};

/// Adds the options of both.
void add_trace_files(CLI::App& command, TraceFiles& given);
/// Adds --output, --jobs-to and --force. `given` must outlive the parse.
void add_trace_output(CLI::App& command, TraceOutput& given);
/// Adds FILE, --jobs-from and --strict.
void add_trace_input(CLI::App& command, TraceInput& given);
/// --jobs-from by itself.
void add_side_file(CLI::App& command, std::string& jobs_from);

/// Adds --seed, of what is generated.
void add_seed(CLI::App& command, std::uint64_t& seed, const std::string& help);

/// Throws InputError.
[[nodiscard]] TraceReader open_trace(const TraceInput& given);
/// For a command that reads it twice: a pipe is copied to a temporary file. Throws InputError.
[[nodiscard]] RereadableTrace rereadable_trace(const TraceInput& given);
/// Call it before anything is done. Throws UsageError if the file of `option` is one of `others`, InputError if it is
/// there already without `force`. Empty `file`: there is none.
void expect_file_of_its_own(std::string_view option, const std::string& file, std::initializer_list<std::string> others,
                            bool force);
/// Prints odd_line_report() on standard error.
void report_odd_lines(const std::vector<std::string>& report);
/// Throws InputError if a file is there already and --force is not given.
[[nodiscard]] TraceWriter create_trace(const TraceOutput& given);
/// The same for a command that makes several files out of one option.
[[nodiscard]] TraceWriter create_trace(const TraceOutput& given, const std::string& path);

}  // namespace replay::cli
