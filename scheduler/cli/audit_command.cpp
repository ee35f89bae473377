// `replay audit SCHEDULE --rule RULE`: does the schedule follow the rule? Exit status 0: yes; 1: there are findings.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/audit/audit.hpp"
#include "scheduler/audit/schedule_file.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/experiment/progress_line.hpp"

namespace replay::cli {
namespace {

using audit::FindingKind;
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

struct Audit {
  const AuditGiven& given;
  const audit::ScheduleFile& file;
  const audit::Options& options;
  const audit::Report& report;
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

std::string words(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNotStarted: return "not started";
    case FindingKind::kLaterThanGuarantee: return "later than its guarantee";
    case FindingKind::kAgainstRule: return "started against the rule";
    case FindingKind::kBeforeSubmission: return "started before its submission";
    case FindingKind::kTooManyProcessors: return "too many processors";
  }
  return "?";
}

std::string start_text(Instant started) {
  return started == kNever ? "it never starts" : fmt::format("it starts at {} s", to_text(started));
}

void print_finding(const audit::Finding& finding, const audit::ScheduleFile& file) {
  const std::string& job = file.schedule.jobs[finding.job].name;
  fmt::print("{} s: job {} {}", to_text(finding.at), job, words(finding.kind));
  switch (finding.kind) {
    case FindingKind::kNotStarted:
    case FindingKind::kLaterThanGuarantee: fmt::print(" ({})", start_text(finding.found)); break;
    default: break;
  }
  fmt::print(": {}\n", finding.reason);
}

std::string_view word(audit::Compress compress) {
  return compress == audit::Compress::kArrival ? "arrival" : "start-order";
}
std::string_view word(audit::CompressAt compress_at) {
  return compress_at == audit::CompressAt::kEarlyEnd ? "early-end" : "every-end";
}

std::string rule_text(const Audit& audit) {
  const audit::Options& options = audit.options;
  std::string text =
      fmt::format("{}, pass={}", audit.given.rule, options.pass == audit::Pass::kEvent ? "event" : "instant");
  if (options.rule == RuleName::kConservative)
    text += fmt::format(", compress={}, compress-at={}", word(options.compress), word(options.compress_at));
  if (options.tolerance > Duration::zero()) text += fmt::format(", tolerance {} s", to_text(options.tolerance));
  return text;
}

void print_text(const Audit& audit) {
  const audit::Report& report = audit.report;
  for (const audit::Finding& finding : report.first) print_finding(finding, audit.file);
  if (report.total() > report.first.size())
    fmt::print("... and {}\n", counted(report.total() - report.first.size(), "more finding"));
  if (report.total() > 0) fmt::print("\n");
  fmt::print("{}: {} on {} processors\n", audit.file.name, rule_text(audit), audit.options.machine_size);
  fmt::print("{} checked; {}", counted(report.jobs, "job"), counted(report.total(), "finding"));
  if (report.total() > 0) fmt::print(" about {}", counted(report.jobs_with_findings, "job"));
  fmt::print("\n");
  for (std::size_t kind = 0; kind < audit::kFindingKinds; ++kind)
    if (report.findings[kind] > 0)
      fmt::print("{:>9}  {}\n", report.findings[kind], words(static_cast<FindingKind>(kind)));
  for (const auto& [reason, count] : audit.file.left_out)
    fmt::print("{} left out: {}\n", counted(count, "record"), reason);
  if (report.never_started > 0) fmt::print("{} waited and never started\n", counted(report.never_started, "job"));
  if (report.overran > 0) fmt::print("{} ran beyond the estimate\n", counted(report.overran, "job"));
  if (audit.file.changed > 0)
    fmt::print("{} shrunk, expanded or suspended: the rules do not know that\n", counted(audit.file.changed, "job"));
}

nlohmann::ordered_json json_instant(Instant instant) {
  return instant == kNever ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(seconds(instant));
}

nlohmann::ordered_json json_of(const audit::Finding& finding, const audit::ScheduleFile& file) {
  return {{"job", file.schedule.jobs[finding.job].name},
          {"at_s", seconds(finding.at)},
          {"kind", to_text(finding.kind)},
          {"expected_s", json_instant(finding.expected)},
          {"found_s", json_instant(finding.found)},
          {"reason", finding.reason}};
}

nlohmann::ordered_json json_of(const Audit& audit) {
  const audit::Report& report = audit.report;
  nlohmann::ordered_json json;
  json["schedule"] = audit.file.name;
  json["format"] = audit.file.format;
  json["rule"] = audit.given.rule;
  json["pass"] = audit.options.pass == audit::Pass::kEvent ? "event" : "instant";
  if (audit.options.rule == RuleName::kConservative) {
    json["compress"] = word(audit.options.compress);
    json["compress_at"] = word(audit.options.compress_at);
  }
  json["tolerance_s"] = seconds(audit.options.tolerance);
  json["machine_size"] = audit.options.machine_size;
  json["follows_the_rule"] = report.total() == 0;
  json["records"] = audit.file.records;
  json["jobs_checked"] = report.jobs;
  json["jobs_with_findings"] = report.jobs_with_findings;
  json["jobs_never_started"] = report.never_started;
  json["jobs_beyond_estimate"] = report.overran;
  json["jobs_changed"] = audit.file.changed;
  json["left_out"] = audit.file.left_out;
  json["findings"] = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < audit::kFindingKinds; ++kind)
    json["findings"][std::string{to_text(static_cast<FindingKind>(kind))}] = report.findings[kind];
  json["first_findings"] = nlohmann::ordered_json::array();
  for (const audit::Finding& finding : report.first) json["first_findings"].push_back(json_of(finding, audit.file));
  return json;
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
  const Audit audit{given, file, options, report};
  if (given.json)
    fmt::print("{}\n", json_of(audit).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    print_text(audit);
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
