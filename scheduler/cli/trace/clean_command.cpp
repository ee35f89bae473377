// `replay trace clean FILE`: removes records that cannot be run, and flurries; reports what was done as text and as
// JSON.

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "traces/tools/clean.hpp"

namespace replay::cli {
namespace {

constexpr Choice<FlurryAction> kFlurries[] = {
    {"remove", FlurryAction::kRemove}, {"report", FlurryAction::kReport}, {"ignore", FlurryAction::kIgnore}};

struct CleanGiven : TraceFiles {
  std::map<std::string, std::string> rules;
  FlurryAction flurries = FlurryAction::kReport;
  FlurryRule flurry;
  std::string report;
};

CleanOptions options_of(const CleanGiven& given) {
  for (const auto& [option, share] :
       {std::pair{"--flurry-share", given.flurry.share}, std::pair{"--flurry-alike", given.flurry.alike}})
    if (!(share >= 0 && share <= 1))
      throw UsageError(fmt::format("{}: expected a share 0..1, found '{}'", option, share));
  return {.rules = experiment::cleaning_rules(given.rules), .flurries = given.flurries, .flurry_rule = given.flurry};
}

std::string canonical(const CleanGiven& given, const CleanOptions& options) {
  std::string command = "replay trace clean";
  for (const auto& [rule, value] : given.rules) command += fmt::format(" --{} {}", rule, value);
  command += fmt::format(" --flurries {}", word_of(kFlurries, given.flurries));
  if (options.flurries == FlurryAction::kIgnore) return command;
  const FlurryRule& rule = options.flurry_rule;
  return command + fmt::format(
                       " --flurry-jobs {} --flurry-gap {}s --flurry-share {} --flurry-alike {} "
                       "--flurry-longest {}s",
                       rule.jobs, to_text(rule.gap), rule.share, rule.alike, to_text(rule.longest));
}

nlohmann::json json_of(const CleanResult& result, bool removed) {
  nlohmann::json findings = nlohmann::json::array(), flurries = nlohmann::json::array();
  for (const Finding& f : result.report.findings)
    findings.push_back(
        {{"rule", f.rule}, {"action", f.action}, {"count", f.count}, {"text", f.text}, {"lines", f.lines}});
  for (const Flurry& f : result.flurries)
    flurries.push_back({{"user", f.user},
                        {"jobs", f.jobs},
                        {"first_job", f.first_job},
                        {"last_job", f.last_job},
                        {"from_s", seconds(f.from)},
                        {"to_s", seconds(f.to)},
                        {"share", f.share},
                        {"processors", f.size},
                        {"alike", f.alike},
                        {"removed", removed}});
  const CleaningReport& r = result.report;
  return {{"file", r.file},       {"read", r.read},          {"kept", r.kept},
          {"skipped", r.skipped}, {"broken", r.broken},      {"findings", findings},
          {"flurries", flurries}, {"sorted", result.sorted}, {"broken_messages", r.broken_messages}};
}

int clean(const CleanGiven& given) {
  const CleanOptions options = options_of(given);
  expect_file_of_its_own("--report", given.report,
                         {given.input.input, given.input.jobs_from, given.output.output, given.output.jobs_to},
                         given.output.force);
  const RereadableTrace trace = rereadable_trace(given.input);
  TraceWriter writer = create_trace(given.output);
  const CleanResult result = clean_trace(trace, writer, options, canonical(given, options));
  const bool removed = options.flurries == FlurryAction::kRemove;
  if (!given.report.empty()) write_json(given.report, json_of(result, removed));  // no trace without its report
  writer.close();
  for (const std::string& line : result.report.to_lines()) fmt::print(stderr, "{}\n", line);
  for (const Flurry& f : result.flurries)
    fmt::print(stderr,
               "flurry{}: user={} and (job>={} and job<={}) ({} jobs in {:.1f} h, {:.0f} % of all; {:.0f} % on {} "
               "processors)\n",
               removed ? " removed" : "", f.user, f.first_job, f.last_job, f.jobs, seconds(f.to - f.from) / 3600,
               100 * f.share, 100 * f.alike, f.size);
  return 0;
}

void add_flurry_options(CLI::App& command, CleanGiven& given) {
  command.option_defaults()->group("Flurries: bursts of one user that dominate the workload");
  constexpr DurationRange kTime{.least = Duration{1}, .expected = "a duration such as 1h or 60d"};
  add_choice(command, "--flurries", given.flurries, kFlurries, "remove, report or ignore", Words::kInHelp)
      ->type_name("ACTION")
      ->default_str("report");
  add_count(command, "--flurry-jobs", given.flurry.jobs, 1, kMostRecords, "has at least so many jobs");
  add_duration(command, "--flurry-gap", "TIME", given.flurry.gap, kTime,
               "ends when the user submits nothing for so long", "1h");
  const auto add_share = [&command](const char* name, double& share, const char* help) {
    command.add_option(name, share, help)->type_name("0..1")->capture_default_str();
  };
  add_share("--flurry-share", given.flurry.share, "has at least this share of the jobs of its time");
  add_share("--flurry-alike", given.flurry.alike, "at least this share of it has one size");
  add_duration(command, "--flurry-longest", "TIME", given.flurry.longest, kTime, "lasts at most so long", "60d");
}

}  // namespace

Command add_trace_clean(CLI::App& trace) {
  CLI::App& command =
      add_command(trace, "clean", "without broken records and flurries; says what it did",
                  "Flurries are reported; whether they are removed is your decision.\n"
                  "Example: replay trace clean raw.swf.gz --flurries remove --report raw.json -o clean.swf.gz");
  auto given = std::make_shared<CleanGiven>();
  add_trace_files(command, *given);
  add_text(command, "--report", given->report, "FILE", "what was done, as JSON");
  add_rules_of_records(command, given->rules);
  add_flurry_options(command, *given);
  return [given] { return clean(*given); };
}

}  // namespace replay::cli
