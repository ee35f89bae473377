// `replay why RUN JOB`: what a job waited for, from its submission to its start.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/compare/waiting_reasons.hpp"
#include "scheduler/experiment/calibrated_scenario.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::cli {
namespace {

using compare::WaitCause;
using compare::WaitReport;
using compare::WaitSegment;
using nlohmann::ordered_json;

constexpr std::int64_t kMostJob = 1'000'000'000'000'000'000;  // larger ones would be read as another number

struct WhyGiven {
  std::string run;
  std::int64_t job = 0;
  std::size_t most = 5;
  std::size_t lines = 30;
  bool instants = false;
  bool in_seconds = false;
  bool json = false;

  [[nodiscard]] results::TimeStyle style() const {
    return in_seconds ? results::TimeStyle::kSeconds : results::TimeStyle::kClock;
  }
};

struct CauseWords {
  WaitCause cause;
  const char* name;  ///< in JSON
  const char* text;  ///< in the summary
};
constexpr CauseWords kCauses[] = {
    {WaitCause::kEarlierJobs, "earlier-jobs", "behind earlier jobs, too few cores free"},
    {WaitCause::kCores, "cores", "as the head of the queue, too few cores free"},
    {WaitCause::kHeldBack, "held-back", "enough cores free, but not started"},
    {WaitCause::kLaunch, "launch", "start decided, its cores not yet left by others"},
};

std::string cores_text(CoreCount cores) { return counted(cores, "core"); }

std::string range_text(std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

// ---- as text ----

std::string cause_text(const WaitSegment& segment, const WaitReport& report, const WhyGiven& given) {
  const std::string free = range_text(segment.free_least, segment.free_most);
  const std::string ahead =
      segment.ahead_first == segment.ahead_last
          ? counted(segment.ahead_first, "earlier job")
          : fmt::format("{}, then {}", counted(segment.ahead_first, "earlier job"), segment.ahead_last);
  switch (segment.cause) {
    case WaitCause::kEarlierJobs:
      return fmt::format("behind {}; needs {}: {} free", ahead, cores_text(report.processes), free);
    case WaitCause::kCores:
      return fmt::format("waited for {}: {} free; head of the queue since {}", cores_text(report.processes), free,
                         results::instant_text(report.head_since, given.style()));
    case WaitCause::kHeldBack:
      return fmt::format("held back by the policy: {} free, {} needed; {}", free, report.processes,
                         segment.is_head ? "head of the queue" : ahead + " waiting");
    case WaitCause::kLaunch: return "start decided; waited until others had left its cores";
  }
  return "";
}

std::string shadow_text(const WaitSegment& segment, const WhyGiven& given) {
  const std::string first = results::instant_text(*segment.shadow_first, given.style());
  const std::string last = results::instant_text(*segment.shadow_last, given.style());
  return fmt::format("by the estimates it could start at {}{}\n", first,
                     first == last ? "" : fmt::format(" at the earliest, in the end at {}", last));
}

std::string holders_text(const WaitSegment& segment, const WhyGiven& given) {
  std::string text;
  for (const compare::Holder& holder : segment.largest_holders)
    text += fmt::format("{}job {} ({}, estimated end {})", text.empty() ? "" : ", ", number(holder.job),
                        cores_text(holder.cores), results::instant_text(holder.estimated_end, given.style()));
  const std::size_t others = segment.holders - segment.largest_holders.size();
  if (others > 0)
    text += fmt::format("{}{}", text.empty() ? "" : ", and ", counted(others, text.empty() ? "job" : "other"));
  return text.empty() ? "" : "cores held by " + text + '\n';
}

std::string overtakers_text(const WaitSegment& segment, const WhyGiven& given) {
  if (segment.overtakers.empty()) return "";
  std::string text = fmt::format("overtaken by {}: ", counted(segment.overtakers.size(), "job"));
  for (std::size_t i = 0; i < std::min(given.most, segment.overtakers.size()); ++i) {
    const compare::Overtaker& other = segment.overtakers[i];
    text += fmt::format("{}{} at {} ({}, estimate {})", i == 0 ? "" : ", ", number(other.job),
                        results::instant_text(other.at, given.style()), cores_text(other.processes),
                        results::length_text(other.estimate));
  }
  return text + (segment.overtakers.size() > given.most ? ", ...\n" : "\n");
}

std::string summary_text(const WaitReport& report, Duration waited) {
  std::vector<std::vector<std::string>> rows = {{"in all", "time", "seconds", "%"}};
  for (const CauseWords& words : kCauses) {
    const Duration total = report.total(words.cause);
    rows.push_back({words.text, results::length_text(total), replay::to_text(total),
                    fmt::format("{:.1f}", seconds(total) / seconds(waited) * 100)});
  }
  return aligned(rows);
}

std::string headline(const WaitReport& report, const WhyGiven& given) {
  return fmt::format("job {}: {}, estimate {}, {}; submitted at {}", number(report.job), cores_text(report.processes),
                     results::length_text(report.estimate), to_text(report.flexibility),
                     results::instant_text(report.submitted, given.style()));
}

Instant end_of_waiting(const WaitReport& report) {
  return report.launched != kNever ? report.launched : report.finished != kNever ? report.finished : report.log_end;
}

std::string fate(const WaitReport& report, const WhyGiven& given) {
  const Duration waited = end_of_waiting(report) - report.submitted;
  const std::string reason = report.end.reason.empty() ? "" : ": " + report.end.reason;
  if (report.launched != kNever) {
    const std::string on =
        fmt::format("on {}{}", cores_text(report.cores_at_launch),
                    report.mpl_at_launch > 1 ? fmt::format(" ({} processes each)", report.mpl_at_launch) : "");
    if (waited == Duration::zero())
      return fmt::format("it started at once, {}: {} free then", on, cores_text(report.free_at_submission));
    return fmt::format("it started at {} {}, after {}", results::instant_text(report.launched, given.style()), on,
                       results::length_text(waited));
  }
  if (report.finished == kNever)
    return fmt::format("it had not started when the log ends, at {}, after {}",
                       results::instant_text(report.log_end, given.style()), results::length_text(waited));
  if (report.end.outcome == Outcome::kRejected) return "it was rejected and never waited" + reason;
  return fmt::format("it was {} at {} and never started{}", to_text(report.end.outcome),
                     results::instant_text(report.finished, given.style()), reason);
}

std::string to_text(const WaitSegment& segment, const WaitReport& report, const WhyGiven& given) {
  std::string text = fmt::format("{} .. {} ({}) {}\n", results::instant_text(segment.from, given.style()),
                                 results::instant_text(segment.to, given.style()),
                                 results::length_text(segment.to - segment.from), cause_text(segment, report, given));
  const std::string shadow = segment.shadow_first ? shadow_text(segment, given) : "";
  for (const std::string& line : {shadow, holders_text(segment, given), overtakers_text(segment, given)})
    if (!line.empty()) text += "    " + line;
  return text;
}

std::string to_text(const WaitReport& report, const WhyGiven& given) {
  std::string text = headline(report, given) + '\n' + fate(report, given) + '\n';
  const std::size_t count = report.segments.size();
  if (count == 0) return text;
  text += '\n';
  // If there are too many, show the first and the last.
  const std::size_t shown = std::min(count, given.lines), first = shown - shown / 2;
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= first && i < count - shown / 2) {
      if (i == first) text += fmt::format("... {} (--lines shows more)\n", counted(count - shown, "more line"));
      continue;
    }
    text += to_text(report.segments[i], report, given);
  }
  return text + '\n' + summary_text(report, end_of_waiting(report) - report.submitted);
}

// ---- as JSON ----

ordered_json or_null(Instant instant) { return instant == kNever ? ordered_json() : ordered_json(seconds(instant)); }

ordered_json to_json(const WaitSegment& segment) {
  ordered_json json;
  json["from_s"] = seconds(segment.from);
  json["to_s"] = seconds(segment.to);
  json["cause"] = kCauses[static_cast<std::size_t>(segment.cause)].name;
  json["is_head"] = segment.is_head;
  json["instants"] = segment.instants;
  json["jobs_ahead"] = {{"first", segment.ahead_first}, {"last", segment.ahead_last}};
  json["free_cores"] = {{"least", segment.free_least}, {"most", segment.free_most}};
  json["earliest_start_by_estimates_s"] = nullptr;
  if (segment.shadow_first)
    json["earliest_start_by_estimates_s"] = {{"first", or_null(*segment.shadow_first)},
                                             {"last", or_null(*segment.shadow_last)}};
  json["holders"] = segment.holders;
  json["largest_holders"] = ordered_json::array();
  for (const compare::Holder& holder : segment.largest_holders)
    json["largest_holders"].push_back(
        {{"job", number(holder.job)}, {"cores", holder.cores}, {"estimated_end_s", or_null(holder.estimated_end)}});
  json["overtaken_by"] = ordered_json::array();
  for (const compare::Overtaker& other : segment.overtakers)
    json["overtaken_by"].push_back({{"job", number(other.job)},
                                    {"at_s", seconds(other.at)},
                                    {"processes", other.processes},
                                    {"estimate_s", seconds(other.estimate)}});
  return json;
}

ordered_json to_json(const WaitReport& report, const WhyGiven& given) {
  ordered_json json;
  json["job"] = number(report.job);
  json["processes"] = report.processes;
  json["estimate_s"] = seconds(report.estimate);
  json["flexibility"] = to_text(report.flexibility);
  json["submitted_s"] = seconds(report.submitted);
  json["decided_s"] = or_null(report.decided);
  json["launched_s"] = or_null(report.launched);
  json["finished_s"] = or_null(report.finished);
  json["outcome"] = report.finished == kNever ? ordered_json() : ordered_json(to_text(report.end.outcome));
  json["in_words"] = fate(report, given);
  json["waited_s"] = seconds(end_of_waiting(report) - report.submitted);
  for (const CauseWords& words : kCauses) json["waited_by_cause_s"][words.name] = seconds(report.total(words.cause));
  json["segments"] = ordered_json::array();
  for (const WaitSegment& segment : report.segments) json["segments"].push_back(to_json(segment));
  return json;
}

// The runtime model that the log's header names. The log does not hold the profile of `calibrated`; `isolated` replaces
// it. Without a model that we know, every job is taken to run at full speed.
class ModelOfLog final : public log::Sink {
 public:
  void header(const log::Header& header) override {
    const std::string& name = header.value("runtime-model");
    for (const RuntimeModelEntry& entry : runtime_models())
      if (entry.name == name) model_ = make_runtime_model(name == experiment::kCalibrated ? "isolated" : name);
    if (model_ && !model_->allows_sharing()) model_.reset();
  }
  void record(const log::Record& /*record*/) override {}

  [[nodiscard]] double rate(const Job& job, const Allocation& allocation, double demand) const {
    return model_ == nullptr ? 1 : model_->rate(job.declared, allocation, demand);
  }

 private:
  std::unique_ptr<RuntimeModel> model_;
};

int why(const WhyGiven& given) {
  const auto file = results::event_log_of(given.run);
  ModelOfLog model;
  const auto rate = [&model](const Job& job, const Allocation& on, double demand) {
    return model.rate(job, on, demand);
  };
  compare::WaitingReasons reasons{JobId{given.job}, {!given.instants, given.most, rate}};
  log::Tee both{{&model, &reasons}};
  results::read_event_log(file, both);
  const WaitReport report = reasons.finish();
  if (report.jobs_in_log == 0) throw InputError(fmt::format("{}: has no jobs", file.string()));
  if (!report.found)
    throw InputError(fmt::format("{}: there is no job {}; expected one of the {} from {} to {}", file.string(),
                                 given.job, counted(report.jobs_in_log, "job"), number(report.lowest),
                                 number(report.highest)));
  if (given.json) {
    fmt::print("{}\n", to_json(report, given).dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return 0;
  }
  const log::Header& header = reasons.header();
  fmt::print("{}", clean_lines(fmt::format("{}: {}, {}, machine {}\n{}", given.run, header.value("policy"),
                                           header.value("body"), header.value("machine"), to_text(report, given))));
  return 0;
}

}  // namespace

Command add_why(CLI::App& app) {
  auto* command = app.add_subcommand("why", "what a job of a run waited for, from its submission to its start");
  command->footer(
      "RUN is a run's folder or an events.log. Times are of the trace: days since its zero, hours:minutes:seconds.\n"
      "Example: replay why runs/compare/easy 1234");
  auto given = std::make_shared<WhyGiven>();
  command->add_option("RUN", given->run, "the run")->required();
  command->add_option("JOB", given->job, "the job's number in the trace")
      ->required()
      ->check(CLI::Range(std::int64_t{-kMostJob}, kMostJob));
  command->add_flag("--instants", given->instants, "a line for each instant at which something happened");
  command->add_option("--max", given->most, "how many running or overtaking jobs to name on a line")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--lines", given->lines, "how many spans of time to show; of more, the first and the last")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000))
      ->capture_default_str();
  command->add_flag("--seconds", given->in_seconds, "times in seconds, as in events.log");
  command->add_flag("--json", given->json, "print it as JSON");
  return [given] { return why(*given); };
}

}  // namespace replay::cli
