// `replay trace validate FILE`: checks an SWF file. Exit status 0: right, perhaps with warnings; 1: wrong.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "traces/tools/validate.hpp"

namespace replay::cli {
namespace {

constexpr int kWrong = 1;

struct TraceValidateGiven {
  TraceInput input;
  ValidateOptions validate;
  bool json = false;
};

std::string_view name_of(Severity severity) { return severity == Severity::kError ? "error" : "warning"; }

void print_text(const Validation& validation) {
  for (const Violation& v : validation.violations) {
    fmt::print("{:<8} {:>8}  {}: {}", name_of(v.severity), v.count, v.rule, v.text);
    if (!v.lines.empty())
      fmt::print(" ({} {}{})", noun_for(v.lines.size(), "line"), fmt::join(v.lines, ", "),
                 v.count > v.lines.size() ? ", ..." : "");
    fmt::print("\n");
  }
  for (const std::string& message : validation.broken_messages) fmt::print("{}\n", message);
  if (validation.logged_peak) fmt::print("logged schedule: up to {} processors in use\n", *validation.logged_peak);
  fmt::print("{}: {}; {}, {}, {}\n", validation.file, validation.is_right() ? "right" : "wrong",
             counted(validation.records, "record"), counted(validation.count(Severity::kError), "error"),
             counted(validation.count(Severity::kWarning), "warning"));
}

nlohmann::json json_of(const Validation& validation) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Violation& v : validation.violations)
    findings.push_back({{"rule", v.rule},
                        {"severity", name_of(v.severity)},
                        {"count", v.count},
                        {"text", v.text},
                        {"lines", v.lines}});
  return {{"file", validation.file},
          {"right", validation.is_right()},
          {"records", validation.records},
          {"errors", validation.count(Severity::kError)},
          {"warnings", validation.count(Severity::kWarning)},
          {"logged_peak_processors",
           validation.logged_peak ? nlohmann::json(*validation.logged_peak) : nlohmann::json(nullptr)},
          {"findings", findings},
          {"broken_messages", validation.broken_messages}};
}

int validate(const TraceValidateGiven& given) {
  TraceReader reader = open_trace(given.input);
  const Validation validation = validate_trace(reader, given.validate);
  if (given.json)
    print_json(json_of(validation));
  else
    print_text(validation);
  return validation.is_right() ? 0 : kWrong;
}

}  // namespace

Command add_trace_validate(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "validate", "is this SWF right? Exit status 0 if it is, warnings allowed; else 1",
                  "Example: replay trace validate KTH-SP2.swf.gz --schedule");
  auto given = std::make_shared<TraceValidateGiven>();
  add_trace_input(command, given->input);
  command.add_flag("--schedule", given->validate.schedule,
                   "whether the logged schedule fits the machine (memory: 32 bytes a job)");
  command.add_flag("--json", given->json, "print as JSON");
  return [given] { return validate(*given); };
}

}  // namespace replay::cli
