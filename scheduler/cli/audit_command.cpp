// `replay audit SCHEDULE --rule RULE`: does the schedule follow the rule? Exit status 0: yes; 1: there are findings.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "scheduler/audit/audit.hpp"
#include "scheduler/audit/report.hpp"
#include "scheduler/audit/schedule_file.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/cli/command.hpp"

namespace replay::cli {
namespace {

using audit::RuleName;

constexpr int kFindings = 1;
constexpr CoreCount kMostProcessors = 100'000'000;
constexpr std::int64_t kMostFindings = 1'000'000'000;

constexpr Choice<RuleName> kRules[] = {
    {"fcfs", RuleName::kFcfs}, {"easy", RuleName::kEasy}, {"conservative", RuleName::kConservative}};
constexpr Choice<audit::Pass> kPasses[] = {{"event", audit::Pass::kEvent}, {"instant", audit::Pass::kInstant}};
constexpr Choice<audit::Compress> kCompress[] = {{"arrival", audit::Compress::kArrival},
                                                 {"start-order", audit::Compress::kStartOrder}};
constexpr Choice<audit::CompressAt> kCompressAt[] = {{"early-end", audit::CompressAt::kEarlyEnd},
                                                     {"every-end", audit::CompressAt::kEveryEnd}};

constexpr Choice<QueueFrom> kQueueFrom[] = {{"eligible", QueueFrom::kEligible}, {"submit", QueueFrom::kSubmit}};

struct AuditGiven {
  std::string schedule;
  RuleName rule{};
  std::optional<audit::Pass> pass;
  std::optional<audit::Compress> compress;
  std::optional<audit::CompressAt> compress_at;
  Duration tolerance{};
  std::optional<CoreCount> machine_size;  // nothing: as the schedule states it
  QueueFrom queue_from = QueueFrom::kEligible;
  std::int64_t most = 20;
  bool json = false;
};

audit::Options options_of(const AuditGiven& given) {
  for (const auto& [option, is_given] :
       {std::pair{"--compress", given.compress.has_value()}, {"--compress-at", given.compress_at.has_value()}})
    if (is_given && given.rule != RuleName::kConservative)
      throw UsageError(
          fmt::format("{} is for --rule conservative, found --rule {}", option, word_of(kRules, given.rule)));
  audit::Options options;
  options.rule = given.rule;
  options.pass = given.pass.value_or(given.rule == RuleName::kFcfs ? audit::Pass::kInstant : audit::Pass::kEvent);
  options.compress = given.compress.value_or(options.compress);
  options.compress_at = given.compress_at.value_or(options.compress_at);
  options.tolerance = given.tolerance;
  options.most_findings = static_cast<std::size_t>(given.most);
  return options;
}

CoreCount machine_size_of(const AuditGiven& given, const audit::ScheduleFile& file) {
  if (given.machine_size) return *given.machine_size;
  if (file.machine_size) return *file.machine_size;
  throw UsageError(
      fmt::format("{}: it does not say how many processors the machine has; --machine-size N does", file.name));
}

audit::Report check(const audit::ScheduleFile& file, audit::Options options) {
  terminal::ProgressLine progress;
  options.progress = [&](std::size_t jobs) {
    progress.show(fmt::format("{}: {} of {} jobs", file.name, jobs, file.schedule.jobs.size()));
  };
  return audit::audit(file.schedule, options);
}

// A run folder, or a file of one.
void refuse_node_events(const std::filesystem::path& schedule) {
  std::error_code unreadable;  // that is said when the schedule is read
  const auto folder = std::filesystem::is_directory(schedule, unreadable) ? schedule : schedule.parent_path();
  if (std::filesystem::exists(folder / "nodes.csv", unreadable))
    throw InputError(
        fmt::format("{}: expected a run in which all nodes were up, found node events (nodes.csv): no rule of "
                    "audit knows what is closed",
                    folder.string()));
}

int audit_schedule(const AuditGiven& given) {
  audit::Options options = options_of(given);
  refuse_node_events(given.schedule);
  const audit::ScheduleFile file = audit::read_schedule(given.schedule, given.queue_from);
  for (const std::string& line : file.odd_lines) fmt::print(stderr, "{}\n", line);
  options.machine_size = machine_size_of(given, file);
  const audit::Report report = check(file, options);
  if (given.json)
    print_json(to_json(file, options, report));
  else
    fmt::print("{}", to_text(file, options, report));
  return report.total() == 0 ? 0 : kFindings;
}

}  // namespace

Command add_audit(CLI::App& app) {
  CLI::App& command =
      add_command(app, "audit", "checks any schedule against a stated rule",
                  "Exit status 0: it follows the rule; 1: it does not, or cannot be read; 2: wrong usage.\n"
                  "Example: replay audit schedule.swf --rule easy");
  auto given = std::make_shared<AuditGiven>();
  command
      .add_option("SCHEDULE", given->schedule,
                  "a run's folder or its jobs.csv, Batsim's table of jobs, or SWF with waits (.gz too, '-' for "
                  "standard input)")
      ->required();
  add_choice(command, "--rule", given->rule, kRules, "fcfs, easy or conservative")->required();
  add_choice(command, "--pass", given->pass, kPasses,
             "event: a pass after each event, submissions first (default of easy and conservative); instant: one "
             "for all events of an instant (default of fcfs)");
  add_choice(command, "--compress", given->compress, kCompress,
             "conservative: in which order waiting jobs move up, arrival (default) or start-order");
  add_choice(command, "--compress-at", given->compress_at, kCompressAt,
             "conservative: which end of a job makes waiting jobs move up, early-end (default: one before its "
             "estimate) or every-end");
  add_count(command, "--machine-size", given->machine_size, 1, kMostProcessors,
            "processors of the machine (default: the SWF header's, or the run's)");
  add_choice(command, "--queue-from", given->queue_from, kQueueFrom,
             "SWF: a job that could not start at once waits from when it could (eligible, the default) or from its "
             "submission");
  constexpr DurationRange kAnyLater{.least = Duration::zero(), .expected = "seconds >= 0, such as 2 or 0.5"};
  add_duration(command, "--tolerance", "SECONDS", given->tolerance, kAnyLater,
               "a start may come so much later than the rule has it", "0");
  add_count(command, "--max", given->most, 0, kMostFindings, "findings to print; all are counted");
  command.add_flag("--json", given->json, "print as JSON");
  return [given] { return audit_schedule(*given); };
}

}  // namespace replay::cli
