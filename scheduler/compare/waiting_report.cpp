#include "scheduler/compare/waiting_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/compare/several_waits.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"

namespace replay::compare {
namespace {

using nlohmann::ordered_json;

struct CauseWords {
  WaitCause cause;
  const char* name;  ///< in JSON
  const char* text;  ///< in the summary
};
constexpr CauseWords kCauses[] = {
    {WaitCause::kEarlierJobs, "earlier-jobs", "behind earlier jobs, too few cores free"},
    {WaitCause::kCores, "cores", "as the head of the queue, too few cores free"},
    {WaitCause::kHeldBack, "held-back", "enough cores free, but not started"},
    {WaitCause::kOffTurn, "off-turn", "while the machine belonged to another class"},
    {WaitCause::kLaunch, "launch", "start decided, its cores not yet left by others"},
    {WaitCause::kClosedNodes, "closed-nodes", "more cores needed than nodes that were not closed have"},
    {WaitCause::kLost, "lost", "ran, and was lost with a node"},
};

std::string cores_text(CoreCount cores) { return counted(cores, "core"); }
std::string cores_text(ProcessCount size) { return cores_text(cores_at(size, 1)); }

std::string range_text(std::int64_t from, std::int64_t to) {
  return from == to ? fmt::format("{}", from) : fmt::format("between {} and {}", from, to);
}

// ---- as text ----

std::string cause_text(const WaitSegment& segment, const WaitReport& report, const WaitTextOptions& options) {
  const std::string free = range_text(segment.free_least, segment.free_most);
  const std::string ahead =
      segment.ahead_first == segment.ahead_last
          ? counted(segment.ahead_first, "earlier job")
          : fmt::format("{}, then {}", counted(segment.ahead_first, "earlier job"), segment.ahead_last);
  switch (segment.cause) {
    case WaitCause::kEarlierJobs:
      return fmt::format("behind {}; needs {}: {} free", ahead, cores_text(report.least), free);
    case WaitCause::kCores:
      return fmt::format("waited for {}: {} free; head of the queue since {}", cores_text(report.least), free,
                         results::instant_text(report.head_since, options.style));
    case WaitCause::kHeldBack:
      return fmt::format("held back by the policy: {} free, {} needed; {}", free, report.least,
                         segment.is_head ? "head of the queue" : ahead + " waiting");
    case WaitCause::kOffTurn: return fmt::format("not the turn of its class: {} free, {} needed", free, report.least);
    case WaitCause::kLaunch: return "start decided; waited until others had left its cores";
    case WaitCause::kClosedNodes:
      return fmt::format("held back: needs {}, {} were there", cores_text(segment.needed), segment.there);
    case WaitCause::kLost:
      return segment.lost_because.empty() ? "ran, and was lost with a node"
                                          : "ran, and was lost: " + segment.lost_because;
  }
  return "";
}

std::string shadow_text(const WaitSegment& segment, const WaitTextOptions& options) {
  const std::string first = results::instant_text(*segment.shadow_first, options.style);
  const std::string last = results::instant_text(*segment.shadow_last, options.style);
  return fmt::format("by the estimates it could start at {}{}\n", first,
                     first == last ? "" : fmt::format(" at the earliest, in the end at {}", last));
}

std::string holders_text(const WaitSegment& segment, const WaitTextOptions& options) {
  std::string text;
  for (const Holder& holder : segment.largest_holders)
    add_item(text, ", ", "job {} ({}, estimated end {})", number(holder.job), cores_text(holder.cores),
             results::instant_text(holder.estimated_end, options.style));
  const std::size_t others = segment.holders - segment.largest_holders.size();
  if (others > 0) add_item(text, ", and ", "{}", counted(others, text.empty() ? "job" : "other"));
  return text.empty() ? "" : "cores held by " + text + '\n';
}

std::string closed_text(const WaitSegment& segment) {
  if (segment.closed.empty()) return "";
  std::string text;
  for (const auto& [name, change] : segment.closed) add_item(text, "; ", "{} is {}", name, to_text(change));
  if (segment.more_closed > 0) add_item(text, "; ", "{}", counted(segment.more_closed, "more node"));
  return text + '\n';
}

std::string overtakers_text(const WaitSegment& segment, const WaitTextOptions& options) {
  if (segment.overtakers.empty()) return "";
  const auto some = std::span{segment.overtakers}.first(std::min(options.most_named, segment.overtakers.size()));
  std::string named;
  for (const Overtaker& other : some)
    add_item(named, ", ", "{} at {} ({}, estimate {})", number(other.job),
             results::instant_text(other.at, options.style), cores_text(other.processes), length_text(other.estimate));
  const std::size_t all = segment.overtakers.size() + segment.more_overtakers;
  return fmt::format("overtaken by {}: {}{}\n", counted(all, "job"), named, all > some.size() ? ", ..." : "");
}

// Without virtual machines none has its turn; without node events none waits for nodes.
bool can_be(WaitCause cause, const WaitReport& report) {
  if (cause == WaitCause::kClosedNodes || cause == WaitCause::kLost) return report.total(cause) > Duration::zero();
  return cause != WaitCause::kOffTurn || report.turns.job_class;
}

std::string summary_text(const WaitReport& report, Duration waited) {
  std::vector<std::vector<std::string>> rows = {{"in all", "time", "seconds", "%"}};
  for (const CauseWords& words : kCauses) {
    if (!can_be(words.cause, report)) continue;
    const Duration total = report.total(words.cause);
    rows.push_back({words.text, length_text(total), replay::to_text(total),
                    fmt::format("{:.1f}", seconds(total) / seconds(waited) * 100)});
  }
  return aligned(rows);
}

std::string headline(const WaitReport& report, const WaitTextOptions& options) {
  const std::string sizes = report.offers.empty() ? "" : fmt::format(" (it offers {})", report.offers);
  return fmt::format("job {}: {}{}, estimate {}, {}; submitted at {}", number(report.job), cores_text(report.processes),
                     sizes, length_text(report.estimate), to_text(report.flexibility),
                     results::instant_text(report.submitted, options.style));
}

Instant end_of_waiting(const WaitReport& report) {
  return report.launched != kNever ? report.launched : report.finished != kNever ? report.finished : report.log_end;
}

std::string start_of(const WaitReport& report, const WaitTextOptions& options) {
  const Duration waited = end_of_waiting(report) - report.submitted;
  const std::string reason = report.end.reason.empty() ? "" : ": " + report.end.reason;
  if (report.launched != kNever) {
    const std::string on =
        fmt::format("on {}{}", cores_text(report.cores_at_launch),
                    report.mpl_at_launch > 1 ? fmt::format(" ({} processes each)", report.mpl_at_launch) : "");
    if (waited == Duration::zero())
      return fmt::format("it started at once, {}: {} free then", on, cores_text(report.free_at_submission));
    return fmt::format("it started at {} {}, after {}", results::instant_text(report.launched, options.style), on,
                       length_text(waited));
  }
  if (report.finished == kNever)
    return fmt::format("it had not started when the log ends, at {}, after {}",
                       results::instant_text(report.log_end, options.style), length_text(waited));
  if (report.end.outcome == Outcome::kRejected) return "it was rejected and never waited" + reason;
  return fmt::format("it was {} at {} and never started{}", to_text(report.end.outcome),
                     results::instant_text(report.finished, options.style), reason);
}

std::string fate(const WaitReport& report, const WaitTextOptions& options) {
  const bool was_lost = report.finished != kNever && report.end.outcome == Outcome::kLost;
  return start_of(report, options) +
         (was_lost ? fmt::format("; it was lost at {}: {}", results::instant_text(report.finished, options.style),
                                 report.end.reason)
                   : "");
}

// Why it got the size that it got: "6 processes instead of 8: ..."; empty if the policy said nothing.
std::string size_text(const WaitReport& report) {
  const SizeChoice& choice = report.choice;
  if (!choice.is_stated()) return "";
  std::string text = counted(report.given, "process", "processes");
  if (choice.optimal != 0)
    text +=
        choice.optimal == report.given ? ", its optimum" : fmt::format(" instead of {}, its optimum", choice.optimal);
  if (choice.optimal != report.processes && report.given != report.processes)
    text += fmt::format(" ({} submitted)", report.processes);
  if (choice.modifier != 0) text += fmt::format("; modifier {:.2f}", choice.modifier);
  if (choice.horizon > Duration::zero())
    text += fmt::format(": predicted load {:.2f} over the next {}, ideal {:.2f}", choice.load,
                        length_text(choice.horizon), choice.ideal);
  return text;
}

std::string jobs_text(JobId primary, const std::vector<JobId>& matched) {
  return fmt::format("job {} with {}", number(primary),
                     joined(matched, ", ", [](JobId job) { return std::to_string(number(job)); }));
}

std::string class_text(JobClass job_class) { return fmt::format("{} jobs", to_text(job_class)); }

std::string suspension_text(const Suspension& suspension, const WaitTextOptions& options) {
  const std::string to = suspension.to == kNever ? "the end" : results::instant_text(suspension.to, options.style);
  return fmt::format("{} .. {}{}", results::instant_text(suspension.from, options.style), to,
                     suspension.in_favour ? fmt::format(" (slice of {})", class_text(*suspension.in_favour)) : "");
}

// Lines about groups and slices; none if the log says nothing of them.
std::vector<std::string> turn_lines(const WaitReport& report, const WaitTextOptions& options) {
  const Turns& turns = report.turns;
  const auto when = [&](Instant at) { return results::instant_text(at, options.style); };
  std::vector<std::string> lines;
  const std::string expected =
      turns.expected ? fmt::format("response expected at submission: {}", length_text(*turns.expected)) : "";
  if (turns.job_class)
    lines.push_back(fmt::format("it belongs to the virtual machine of {}{}{}", class_text(*turns.job_class),
                                expected.empty() ? "" : "; ", expected));
  else if (!expected.empty())
    lines.push_back(expected);
  const auto name_some = [&](std::string head, const auto& all, auto text_of) {
    if (all.empty()) return;
    const auto some = std::span{all}.first(std::min(options.most_named, all.size()));
    lines.push_back(head + joined(some, "; ", text_of) + (some.size() < all.size() ? "; ..." : ""));
  };
  name_some("it shared nodes: ", turns.groups, [&](const GroupOfJob& group) {
    return fmt::format("{} .. {}, {} (case {}, utilisation gain {:.2f})", when(group.at),
                       group.ended == kNever ? "the end" : when(group.ended),
                       jobs_text(group.group.primary, group.group.matched), group.group.way, group.group.gain);
  });
  name_some("matches refused: ", turns.refusals, [&](const RefusedMatch& refused) {
    const MatchRefused& match = refused.match;
    return fmt::format("{}, {} (gain {:.2f}), as job {} would have taken {}, its limit is {}", when(refused.at),
                       jobs_text(match.primary, match.matched), match.gain, number(match.delayed),
                       length_text(match.response), length_text(match.limit));
  });
  const Instant end = report.finished == kNever ? report.log_end : report.finished;
  name_some(fmt::format("suspended {}, {} in all: ", counted(turns.suspensions.size(), "time"),
                        length_text(turns.suspended(end))),
            turns.suspensions, [&](const Suspension& suspension) { return suspension_text(suspension, options); });
  return lines;
}

std::string segment_text(const WaitSegment& segment, const WaitReport& report, const WaitTextOptions& options) {
  std::string text = fmt::format("{} .. {} ({}) {}\n", results::instant_text(segment.from, options.style),
                                 results::instant_text(segment.to, options.style),
                                 length_text(segment.to - segment.from), cause_text(segment, report, options));
  const std::string shadow = segment.shadow_first ? shadow_text(segment, options) : "";
  for (const std::string& line :
       {closed_text(segment), shadow, holders_text(segment, options), overtakers_text(segment, options)})
    if (!line.empty()) text += "    " + line;
  return text;
}

// ---- as JSON ----

ordered_json or_null(Instant instant) { return instant == kNever ? ordered_json() : ordered_json(seconds(instant)); }

ordered_json json_of(const std::vector<JobId>& jobs) {
  ordered_json json = ordered_json::array();
  for (const JobId job : jobs) json.push_back(number(job));
  return json;
}

// Adds what the log says of groups and slices.
void add_turns(ordered_json& json, const Turns& turns) {
  if (turns.job_class) json["class"] = to_text(*turns.job_class);
  if (turns.expected) json["expected_response_s"] = seconds(*turns.expected);
  for (const GroupOfJob& group : turns.groups)
    json["groups"].push_back({{"from_s", seconds(group.at)},
                              {"to_s", or_null(group.ended)},
                              {"primary", number(group.group.primary)},
                              {"matched", json_of(group.group.matched)},
                              {"case", group.group.way},
                              {"gain", group.group.gain}});
  for (const auto& [at, match] : turns.refusals)
    json["refused_matches"].push_back({{"at_s", seconds(at)},
                                       {"primary", number(match.primary)},
                                       {"matched", json_of(match.matched)},
                                       {"gain", match.gain},
                                       {"delayed", number(match.delayed)},
                                       {"response_s", seconds(match.response)},
                                       {"limit_s", seconds(match.limit)}});
  for (const Suspension& suspension : turns.suspensions) {
    ordered_json entry = {{"from_s", seconds(suspension.from)}, {"to_s", or_null(suspension.to)}};
    if (suspension.in_favour) entry["in_favour_of"] = to_text(*suspension.in_favour);
    json["suspensions"].push_back(std::move(entry));
  }
}

ordered_json json_of(const WaitSegment& segment) {
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
  for (const auto& [name, change] : segment.closed)
    json["closed_nodes"].push_back({{"node", name},
                                    {"state", to_text(change.state)},
                                    {"until_s", or_null(change.until)},
                                    {"reason", change.reason}});
  if (segment.more_closed > 0) json["more_closed_nodes"] = segment.more_closed;
  if (segment.cause == WaitCause::kLost) json["lost_because"] = segment.lost_because;
  json["holders"] = segment.holders;
  json["largest_holders"] = ordered_json::array();
  for (const Holder& holder : segment.largest_holders)
    json["largest_holders"].push_back(
        {{"job", number(holder.job)}, {"cores", holder.cores}, {"estimated_end_s", or_null(holder.estimated_end)}});
  json["overtaken_by"] = ordered_json::array();
  for (const Overtaker& other : segment.overtakers)
    json["overtaken_by"].push_back({{"job", number(other.job)},
                                    {"at_s", seconds(other.at)},
                                    {"processes", other.processes},
                                    {"estimate_s", seconds(other.estimate)}});
  return json;
}

// The runtime model that the log's header names. The log does not hold the profile of `calibrated`; `isolated` replaces
// it. Without a model that we know, and under one that keeps jobs off each other's cores, every job is taken to run at full
// speed: the log does not hold the table of `pairs` either.
class ModelOfLog final : public history::Observer {
 public:
  void on_begin(const log::Header& header, const Machine& /*machine*/) override {
    const std::string& name = header.value("runtime-model");
    try {
      model_ = make_runtime_model(without_files(name));
    } catch (const UsageError&) {  // a model of another version
    }
    if (model_ && !model_->allows_sharing()) model_.reset();
  }

  [[nodiscard]] double rate(const Job& job, const Allocation& on, const Surroundings& around) const {
    return model_ == nullptr ? 1 : model_->rate(as_declared(job, on), on, around);
  }

 private:
  // The model that replaces `calibrated`.
  static std::string without_files(const std::string& name) {
    std::string text;
    for (const std::string_view part : split(name, '+'))
      text.append(text.empty() ? "" : "+").append(part == kCalibrated ? "isolated" : part);
    return text;
  }

  std::unique_ptr<RuntimeModel> model_;
};

}  // namespace

ExplainedWait explain_wait(const std::filesystem::path& log_file, JobId job, bool merge, std::size_t most_holders) {
  ModelOfLog model;
  const auto rate = [&model](const Job& of, const Allocation& on, const Surroundings& around) {
    return model.rate(of, on, around);
  };
  WaitingReasons reasons{job, {merge, most_holders, rate}};
  results::read_event_log(log_file, {&model, &reasons});
  WaitReport report = reasons.finish();
  if (report.jobs_in_log == 0) throw InputError(fmt::format("{}: has no jobs", log_file.string()));
  if (!report.found)
    throw InputError(fmt::format("{}: there is no job {}; expected one of the {} from {} to {}", log_file.string(),
                                 number(job), counted(report.jobs_in_log, "job"), number(report.lowest),
                                 number(report.highest)));
  return {reasons.header(), std::move(report)};
}

std::vector<std::string> explain_waits(const std::filesystem::path& log_file, std::span<const JobId> jobs,
                                       const WaitTextOptions& options) {
  ModelOfLog model;
  const auto rate = [&model](const Job& of, const Allocation& on, const Surroundings& around) {
    return model.rate(of, on, around);
  };
  SeveralWaits waits{jobs,
                     {.merge = true,
                      .most_holders = options.most_named,
                      .rate = rate,
                      .most_segments = options.most_lines,
                      .most_overtakers = options.most_named}};
  (void)history::follow(log_file, {&model, &waits});
  std::vector<std::string> texts;
  for (const WaitReport& report : waits.finish())
    texts.push_back(report.found ? to_text(report, options) : std::string{});
  return texts;
}

std::string to_text(const WaitReport& report, const WaitTextOptions& options) {
  std::string text = headline(report, options) + '\n' + fate(report, options) + '\n';
  if (const std::string size = size_text(report); !size.empty()) text += "it got " + size + '\n';
  for (const std::string& line : turn_lines(report, options)) text += line + '\n';
  const std::size_t count = report.segments.size() + report.left_out;
  if (count == 0) return text;
  text += '\n';
  // If there are too many, show the first and the last.
  const std::size_t shown = std::min(count, options.most_lines), first = shown - shown / 2;
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= first && i < count - shown / 2) {
      if (i == first)
        text += fmt::format("... {} ({} shows more)\n", counted(count - shown, "more line"), options.more);
      continue;
    }
    text += segment_text(report.segments[i < first ? i : i - report.left_out], report, options);
  }
  return text + '\n' + summary_text(report, end_of_waiting(report) - report.submitted);
}

ordered_json to_json(const WaitReport& report, const WaitTextOptions& options) {
  ordered_json json;
  json["job"] = number(report.job);
  json["processes"] = report.processes;
  if (!report.offers.empty()) json["sizes"] = report.offers;
  json["estimate_s"] = seconds(report.estimate);
  json["flexibility"] = to_text(report.flexibility);
  json["submitted_s"] = seconds(report.submitted);
  json["decided_s"] = or_null(report.decided);
  json["launched_s"] = or_null(report.launched);
  json["finished_s"] = or_null(report.finished);
  json["outcome"] = report.finished == kNever ? ordered_json() : ordered_json(to_text(report.end.outcome));
  json["in_words"] = fate(report, options);
  if (report.choice.is_stated()) {
    json["size"] = {{"given", report.given}, {"in_words", size_text(report)}};
    if (report.choice.optimal != 0) json["size"]["optimal"] = report.choice.optimal;
    if (report.choice.modifier != 0) json["size"]["modifier"] = report.choice.modifier;
    if (report.choice.horizon > Duration::zero()) {
      json["size"]["predicted_load"] = report.choice.load;
      json["size"]["ideal_load"] = report.choice.ideal;
      json["size"]["horizon_s"] = seconds(report.choice.horizon);
    }
  }
  add_turns(json, report.turns);
  json["waited_s"] = seconds(end_of_waiting(report) - report.submitted);
  for (const CauseWords& words : kCauses)
    if (can_be(words.cause, report)) json["waited_by_cause_s"][words.name] = seconds(report.total(words.cause));
  json["segments"] = ordered_json::array();
  for (const WaitSegment& segment : report.segments) json["segments"].push_back(json_of(segment));
  return json;
}

}  // namespace replay::compare
