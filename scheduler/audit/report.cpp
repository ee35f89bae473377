#include "scheduler/audit/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "scheduler/base/text/counted_words.hpp"

namespace replay::audit {
namespace {

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

std::string finding_text(const Finding& finding, const ScheduleFile& file) {
  const bool is_about_start =
      finding.kind == FindingKind::kNotStarted || finding.kind == FindingKind::kLaterThanGuarantee;
  return fmt::format("{} s: job {} {}{}: {}\n", to_text(finding.at), file.schedule.jobs[finding.job].name,
                     words(finding.kind), is_about_start ? fmt::format(" ({})", start_text(finding.found)) : "",
                     finding.reason);
}

std::string_view word(RuleName rule) {
  switch (rule) {
    case RuleName::kFcfs: return "fcfs";
    case RuleName::kEasy: return "easy";
    case RuleName::kConservative: return "conservative";
  }
  return "?";
}
std::string_view word(Pass pass) { return pass == Pass::kEvent ? "event" : "instant"; }
std::string_view word(Compress compress) { return compress == Compress::kArrival ? "arrival" : "start-order"; }
std::string_view word(CompressAt compress_at) {
  return compress_at == CompressAt::kEarlyEnd ? "early-end" : "every-end";
}

std::string rule_text(const Options& options) {
  std::string text = fmt::format("{}, pass={}", word(options.rule), word(options.pass));
  if (options.rule == RuleName::kConservative)
    text += fmt::format(", compress={}, compress-at={}", word(options.compress), word(options.compress_at));
  if (options.tolerance > Duration::zero()) text += fmt::format(", tolerance {} s", replay::to_text(options.tolerance));
  return text;
}

nlohmann::ordered_json json_instant(Instant instant) {
  return instant == kNever ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(seconds(instant));
}

nlohmann::ordered_json json_of(const Finding& finding, const ScheduleFile& file) {
  return {{"job", file.schedule.jobs[finding.job].name},
          {"at_s", seconds(finding.at)},
          {"kind", to_text(finding.kind)},
          {"expected_s", json_instant(finding.expected)},
          {"found_s", json_instant(finding.found)},
          {"reason", finding.reason}};
}

}  // namespace

std::string to_text(const ScheduleFile& file, const Options& options, const Report& report) {
  std::string text;
  const auto add = [&text]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
    text += fmt::format(format, std::forward<Values>(values)...);
  };
  for (const Finding& finding : report.first) text += finding_text(finding, file);
  if (report.total() > report.first.size())
    add("... and {}\n", counted(report.total() - report.first.size(), "more finding"));
  if (report.total() > 0) add("\n");
  add("{}: {} on {} processors\n", file.name, rule_text(options), options.machine_size);
  add("{} checked; {}", counted(report.jobs, "job"), counted(report.total(), "finding"));
  if (report.total() > 0) add(" about {}", counted(report.jobs_with_findings, "job"));
  add("\n");
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind)
    if (report.findings[kind] > 0) add("{:>9}  {}\n", report.findings[kind], words(static_cast<FindingKind>(kind)));
  for (const auto& [reason, count] : file.left_out) add("{} left out: {}\n", counted(count, "record"), reason);
  if (report.never_started > 0) add("{} waited and never started\n", counted(report.never_started, "job"));
  if (report.overran > 0) add("{} ran beyond the estimate\n", counted(report.overran, "job"));
  if (file.changed > 0)
    add("{} shrunk, expanded or suspended: the rules do not know that\n", counted(file.changed, "job"));
  return text;
}

nlohmann::ordered_json to_json(const ScheduleFile& file, const Options& options, const Report& report) {
  nlohmann::ordered_json json;
  json["schedule"] = file.name;
  json["format"] = file.format;
  json["rule"] = word(options.rule);
  json["pass"] = word(options.pass);
  if (options.rule == RuleName::kConservative) {
    json["compress"] = word(options.compress);
    json["compress_at"] = word(options.compress_at);
  }
  json["tolerance_s"] = seconds(options.tolerance);
  json["machine_size"] = options.machine_size;
  json["follows_the_rule"] = report.total() == 0;
  json["records"] = file.records;
  json["jobs_checked"] = report.jobs;
  json["jobs_with_findings"] = report.jobs_with_findings;
  json["jobs_never_started"] = report.never_started;
  json["jobs_beyond_estimate"] = report.overran;
  json["jobs_changed"] = file.changed;
  json["left_out"] = file.left_out;
  json["findings"] = nlohmann::ordered_json::object();
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind)
    json["findings"][std::string{to_text(static_cast<FindingKind>(kind))}] = report.findings[kind];
  json["first_findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : report.first) json["first_findings"].push_back(json_of(finding, file));
  return json;
}

}  // namespace replay::audit
