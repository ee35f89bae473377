// `replay audit SCHEDULE --rule RULE`: does the schedule follow the rule? Exit status 0: yes; 1: there are findings.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/audit/audit.hpp"
#include "scheduler/audit/report.hpp"
#include "scheduler/audit/schedule_file.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/experiment/progress_line.hpp"

namespace replay::cli {
namespace {

using audit::RuleName;

constexpr int kFindings = 1;
constexpr CoreCount kMostProcessors = 100'000'000;
constexpr std::int64_t kMostFindings = 1'000'000'000;

struct AuditGiven {
  std::string schedule;
  std::string rule, pass, compress, compress_at;
  std::string tolerance = "0";
  CoreCount machine_size = 0;  // 0: as the schedule states it
  std::int64_t most = 20;
  bool json = false;
};

RuleName rule_of(const AuditGiven& given) {
  if (given.rule == "fcfs") return RuleName::kFcfs;
  return given.rule == "easy" ? RuleName::kEasy : RuleName::kConservative;
}

audit::Options options_of(const AuditGiven& given) {
  audit::Options options;
  options.rule = rule_of(given);
  options.pass = options.rule == RuleName::kFcfs ? audit::Pass::kInstant : audit::Pass::kEvent;
  if (!given.pass.empty()) options.pass = given.pass == "event" ? audit::Pass::kEvent : audit::Pass::kInstant;
  for (const auto& [option, value] : {std::pair{"--compress", given.compress}, {"--compress-at", given.compress_at}})
    if (!value.empty() && options.rule != RuleName::kConservative)
      throw UsageError(fmt::format("{} is for --rule conservative, found --rule {}", option, given.rule));
  if (given.compress == "start-order") options.compress = audit::Compress::kStartOrder;
  if (given.compress_at == "every-end") options.compress_at = audit::CompressAt::kEveryEnd;
  const std::optional<Duration> tolerance = parse_duration(given.tolerance);
  if (!tolerance || *tolerance < Duration::zero())
    throw UsageError(fmt::format("--tolerance: expected seconds >= 0, such as 2 or 0.5, found '{}'", given.tolerance));
  options.tolerance = *tolerance;
  options.most_findings = static_cast<std::size_t>(given.most);
  return options;
}

CoreCount machine_size_of(const AuditGiven& given, const audit::ScheduleFile& file) {
  if (given.machine_size > 0) return given.machine_size;
  if (file.machine_size) return *file.machine_size;
  throw UsageError(
      fmt::format("{}: it does not say how many processors the machine has; --machine-size N does", file.name));
}

audit::Report check(const audit::ScheduleFile& file, audit::Options options) {
  experiment::ProgressLine progress;
  options.progress = [&](std::size_t jobs) {
    progress.show(fmt::format("{}: {} of {} jobs", file.name, jobs, file.schedule.jobs.size()));
  };
  return audit::audit(file.schedule, options);
}

int audit_schedule(const AuditGiven& given) {
  audit::Options options = options_of(given);
  const audit::ScheduleFile file = audit::read_schedule(given.schedule);
  for (const std::string& line : file.broken_lines) fmt::print(stderr, "{}\n", line);
  options.machine_size = machine_size_of(given, file);
  const audit::Report report = check(file, options);
  if (given.json)
    fmt::print("{}\n", to_json(file, options, report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}", to_text(file, options, report));
  return report.total() == 0 ? 0 : kFindings;
}

}  // namespace

Command add_audit(CLI::App& app) {
  auto* command = app.add_subcommand("audit", "checks anybody's schedule against a stated rule");
  command->footer(
      "Exit status 0: it follows the rule; 1: it does not, or cannot be read; 2: wrong usage.\n"
      "Example: replay audit schedule.swf --rule easy");
  auto given = std::make_shared<AuditGiven>();
  command
      ->add_option("SCHEDULE", given->schedule,
                   "a run's folder or its jobs.csv, Batsim's table of jobs, or SWF with waits (.gz too, '-' for "
                   "standard input)")
      ->required();
  command->add_option("--rule", given->rule, "fcfs, easy or conservative")
      ->required()
      ->check(CLI::IsMember({"fcfs", "easy", "conservative"}));
  command
      ->add_option("--pass", given->pass,
                   "event: a pass after each event, submissions first (default of easy and conservative); instant: one "
                   "for all events of an instant (default of fcfs)")
      ->check(CLI::IsMember({"event", "instant"}));
  command
      ->add_option("--compress", given->compress,
                   "conservative: in which order waiting jobs move up, arrival (default) or start-order")
      ->check(CLI::IsMember({"arrival", "start-order"}));
  command
      ->add_option("--compress-at", given->compress_at,
                   "conservative: which end of a job makes waiting jobs move up, early-end (default: one before its "
                   "estimate) or every-end")
      ->check(CLI::IsMember({"early-end", "every-end"}));
  command
      ->add_option("--machine-size", given->machine_size,
                   "processors of the machine (default: the SWF header's, or the run's)")
      ->type_name("N")
      ->check(CLI::Range(CoreCount{1}, kMostProcessors));
  command->add_option("--tolerance", given->tolerance, "a start may come so much later than the rule has it")
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_option("--max", given->most, "findings to print; all are counted")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, kMostFindings))
      ->capture_default_str();
  command->add_flag("--json", given->json, "print as JSON");
  return [given] { return audit_schedule(*given); };
}

}  // namespace replay::cli
