#include "scheduler/cli/trace/trace_io.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/write_json.hpp"

namespace replay::cli {
namespace {

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

}  // namespace

void add_trace_output(CLI::App& command, TraceOutput& given) {
  command.add_option("-o,--output", given.output, "where the trace goes; .gz compresses, '-' is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command
      .add_option("--jobs-to", given.jobs_to,
                  "where the side file goes: what jobs declare beyond SWF (default: NAME.jobs.csv beside NAME.swf)")
      ->type_name("FILE");
  command.add_flag("--force", given.force, "replace files that exist");
}

void add_trace_input(CLI::App& command, TraceInput& given) {
  command.add_option("FILE", given.input, "SWF, plain or .gz, '-' for standard input")->required();
  command
      .add_option("--jobs-from", given.jobs_from,
                  "the side file of the trace (default: NAME.jobs.csv beside NAME.swf, if it is there)")
      ->type_name("FILE");
  command.add_flag("--strict", given.strict, "stop at the first broken line instead of skipping and counting it");
}

TraceReader open_trace(const TraceInput& given) {
  return TraceReader(given.input, {.swf = {.strict = given.strict}, .job_table = unless_empty(given.jobs_from)});
}

RereadableTrace rereadable_trace(const TraceInput& given) {
  return RereadableTrace(given.input, {.swf = {.strict = given.strict}, .job_table = unless_empty(given.jobs_from)});
}

void expect_report_of_its_own(const std::string& report, const TraceInput& from, const TraceOutput& to) {
  if (report.empty()) return;
  for (const std::string& other : {from.input, from.jobs_from, to.output, to.jobs_to}) {
    std::error_code ignored;
    if (report == other || std::filesystem::equivalent(report, other, ignored))
      throw UsageError(fmt::format("--report {}: is a file of the trace; expected another one", report));
  }
  std::error_code ignored;
  if (!to.force && std::filesystem::is_regular_file(report, ignored))
    throw InputError(fmt::format("{}: exists already: --force replaces it", report));
}

void write_report(const std::string& path, const nlohmann::json& report) { write_json(path, report); }

void report_odd_lines(const std::vector<std::string>& report) {
  for (const std::string& line : report) fmt::print(stderr, "{}\n", line);
}

TraceWriter create_trace(const TraceOutput& given) { return create_trace(given, given.output); }

TraceWriter create_trace(const TraceOutput& given, const std::string& path) {
  return TraceWriter(path, {.job_table = unless_empty(given.jobs_to), .force = given.force});
}

}  // namespace replay::cli
