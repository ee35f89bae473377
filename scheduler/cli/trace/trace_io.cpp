#include "scheduler/cli/trace/trace_io.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/cli/options.hpp"

namespace replay::cli {
namespace {

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

}  // namespace

void add_trace_output(CLI::App& command, TraceOutput& given) {
  add_text(command, "-o,--output", given.output, "FILE", "where the trace goes; .gz compresses, '-' is standard output")
      ->capture_default_str();
  add_text(command, "--jobs-to", given.jobs_to, "FILE",
           "where the side file goes: what jobs declare beyond SWF (default: NAME.jobs.csv beside NAME.swf)");
  command.add_flag("--force", given.force, "replace files that exist");
}

void add_trace_input(CLI::App& command, TraceInput& given) {
  command.add_option("FILE", given.input, "SWF, plain or .gz, '-' for standard input")->required();
  add_side_file(command, given.jobs_from);
  command.add_flag("--strict", given.strict, "stop at the first broken line instead of skipping and counting it");
}

void add_trace_files(CLI::App& command, TraceFiles& given) {
  add_trace_input(command, given.input);
  add_trace_output(command, given.output);
}

void add_side_file(CLI::App& command, std::string& jobs_from) {
  add_text(command, "--jobs-from", jobs_from, "FILE",
           "the side file of the trace (default: NAME.jobs.csv beside NAME.swf, if it is there)");
}

void add_seed(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  add_count(command, "--seed", seed, 0, std::numeric_limits<std::int64_t>::max(), help);
}

TraceReader open_trace(const TraceInput& given) {
  return TraceReader(given.input, {.swf = {.strict = given.strict}, .job_table = unless_empty(given.jobs_from)});
}

RereadableTrace rereadable_trace(const TraceInput& given) {
  return RereadableTrace(given.input, {.swf = {.strict = given.strict}, .job_table = unless_empty(given.jobs_from)});
}

void expect_file_of_its_own(std::string_view option, const std::string& file, std::initializer_list<std::string> others,
                            bool force) {
  if (file.empty()) return;
  std::error_code ignored;
  for (const std::string& other : others)
    if (file == other || std::filesystem::equivalent(file, other, ignored))
      throw UsageError(fmt::format("{} {}: is a file of the trace; expected another one", option, file));
  if (!force && std::filesystem::is_regular_file(file, ignored))
    throw InputError(fmt::format("{}: exists already: --force replaces it", file));
}

void report_odd_lines(const std::vector<std::string>& report) {
  for (const std::string& line : report) fmt::print(stderr, "{}\n", line);
}

TraceWriter create_trace(const TraceOutput& given) { return create_trace(given, given.output); }

TraceWriter create_trace(const TraceOutput& given, const std::string& path) {
  return TraceWriter(path, {.job_table = unless_empty(given.jobs_to), .force = given.force});
}

}  // namespace replay::cli
