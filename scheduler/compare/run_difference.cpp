#include "scheduler/compare/run_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "scheduler/base/error.hpp"
#include "scheduler/base/json/json_text.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/text_table.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::compare {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostShown = 10;   // of one run at the parting
constexpr std::size_t kMostWaiting = 5;  // jobs of the queue that are shown

// The fields of the headers in which the runs differ.
std::vector<std::string> remarks_on(const log::Header& a, const log::Header& b) {
  std::vector<std::string> remarks;
  for (const char* name : {"trace", "machine", "body", "runtime-model", "seed", "time-scale", "overrun"}) {
    const std::string &of_a = a.value(name), &of_b = b.value(name);
    if (of_a != of_b)
      remarks.push_back(fmt::format("the runs differ in their {}: {} and {}", name, of_a.empty() ? "not stated" : of_a,
                                    of_b.empty() ? "not stated" : of_b));
  }
  return remarks;
}

std::string did_text(const PartingSide& side, Instant at) {
  const auto shown = std::span{side.did}.first(std::min(side.did.size(), kMostShown));
  std::string text = joined(shown, "; ", [at](const Decision& decision) {
    const std::string when = decision.at == at ? "" : fmt::format(" at {} s", replay::to_text(decision.at));
    return text_of(decision, DecisionDetails::kAll) + when;
  });
  if (side.did.size() > kMostShown) text += fmt::format("; and {} more", side.did.size() - kMostShown);
  if (!text.empty()) return text;
  if (side.decision)
    return fmt::format("nothing of that kind; it {} at {} s", text_of(*side.decision, DecisionDetails::kAll),
                       replay::to_text(side.decision->at));
  return "nothing of that kind, then or later";
}

std::string queue_text(const RunState& state) {
  std::string text;
  std::size_t shown = 0;
  for (const QueueKey& key : state.waiting()) {
    if (shown++ == kMostWaiting) return text + ", ...";
    const LiveJob& job = *state.find(key.job);
    add_item(text, ", ", "{} ({} x {} s)", number(key.job), job.processes, replay::to_text(job.estimate));
  }
  return text.empty() ? "empty" : text;
}

std::string event_text(const EventDifference& event) {
  using Kind = EventDifference::Kind;
  const auto when = [](Instant instant) {
    return instant == kNever ? std::string{"never"} : fmt::format("at {} s", replay::to_text(instant));
  };
  if (event.kind == Kind::kOutcome)
    return fmt::format("job {} ends {} in both, but in another way", number(event.job), when(event.a));
  return fmt::format("job {} {} {} in A, {} in B", number(event.job),
                     event.kind == Kind::kSubmission ? "comes" : "ends", when(event.a), when(event.b));
}

std::string start_text(const JobDifferences& jobs) {
  std::string text =
      fmt::format("{} of {} jobs that ran in both start at another instant", jobs.started_elsewhen, jobs.ran);
  if (jobs.started_elsewhen > 0)
    text += fmt::format("; B less A: mean {:+.2f} s; size: mean {:.2f}, median {:.2f}, max {:.2f} s", jobs.mean,
                        jobs.mean_size, jobs.median_size, jobs.max_size);
  return text + '\n';
}

std::string means_table(const JobDifferences& jobs) {
  std::vector<std::vector<std::string>> rows = {{"mean over them", "A", "B", "B less A", "%"}};
  const auto add = [&rows](const char* name, const MeanPair& pair) {
    rows.push_back({name, fmt::format("{:.3f}", pair.a), fmt::format("{:.3f}", pair.b),
                    fmt::format("{:+.3f}", pair.b - pair.a),
                    pair.a == 0 ? "-" : fmt::format("{:+.2f}", (pair.b - pair.a) / pair.a * 100)});
  };
  add("wait s", jobs.wait);
  add("response s", jobs.response);
  add("bounded slowdown (10 s)", jobs.bounded_slowdown);
  return aligned(rows);
}

std::string largest_table(const RunDifference& difference) {
  const auto& [a, b] = difference.runs;
  std::vector<std::vector<std::string>> rows = {
      {"job", "cores", "estimate s", "submitted s", "start A", "start B", "B less A"}};
  for (const JobDifference& job : difference.jobs.largest) {
    const metrics::JobRow& row = *a.list.jobs().find(job.job);
    rows.push_back({fmt::format("{}", number(job.job)), fmt::format("{}", row.processes), replay::to_text(row.estimate),
                    replay::to_text(row.submitted), replay::to_text(job.a), replay::to_text(job.b),
                    fmt::format("{:+}", seconds(job.later()))});
  }
  return aligned(rows);
}

std::string jobs_text(const RunDifference& difference) {
  const JobDifferences& jobs = difference.jobs;
  std::string text;
  if (jobs.only_a + jobs.only_b > 0)
    text +=
        fmt::format("{} in both; {} in A only, {} in B only\n", counted(jobs.shared, "job"), jobs.only_a, jobs.only_b);
  text += start_text(jobs);
  if (jobs.ended_elsewhen > 0)
    text += fmt::format("{} with an end at another instant\n", counted(jobs.ended_elsewhen, "job"));
  if (jobs.other_outcome > 0) text += fmt::format("{} with another outcome\n", counted(jobs.other_outcome, "job"));
  if (jobs.ran > 0) text += '\n' + means_table(jobs);
  if (!jobs.largest.empty()) text += '\n' + largest_table(difference);
  return text;
}

ordered_json instant_or_null(Instant instant) {
  return instant == kNever ? ordered_json() : ordered_json(seconds(instant));
}

ordered_json json_of(const Decision& decision) {
  ordered_json json = {
      {"at_s", seconds(decision.at)}, {"decision", word(decision.kind)}, {"job", number(decision.job)}};
  if (decision.kind == DecisionKind::kStart || decision.kind == DecisionKind::kResize) {
    json["cores"] = decision.cores;
    json["mpl"] = decision.mpl;
  }
  if (decision.kind == DecisionKind::kKill) json["reason"] = to_text(decision.reason);
  if (decision.kind == DecisionKind::kExtend) json["estimate_s"] = seconds(decision.estimate);
  return json;
}

ordered_json json_of(const PartingSide& side, const RunState& state) {
  ordered_json json;
  json["decision"] = side.decision ? json_of(*side.decision) : ordered_json();
  json["did"] = ordered_json::array();
  for (const Decision& decision : side.did) json["did"].push_back(json_of(decision));
  json["before"] = {{"free_cores", state.free_cores()},
                    {"cores", state.cores()},
                    {"running", state.running().size()},
                    {"waiting", state.waiting().size()},
                    {"queue", ordered_json::array()}};
  std::size_t shown = 0;
  for (const QueueKey& key : state.waiting()) {
    if (shown++ == kMostWaiting) break;
    const LiveJob& job = *state.find(key.job);
    json["before"]["queue"].push_back(
        {{"job", number(key.job)}, {"processes", job.processes}, {"estimate_s", seconds(job.estimate)}});
  }
  return json;
}

ordered_json json_of(const JobDifferences& jobs) {
  const auto pair = [](const MeanPair& values) {
    return ordered_json{{"a", number_or_null(values.a)}, {"b", number_or_null(values.b)}};
  };
  ordered_json json = {{"in_both", jobs.shared},
                       {"only_a", jobs.only_a},
                       {"only_b", jobs.only_b},
                       {"ran_in_both", jobs.ran},
                       {"start_differs", jobs.started_elsewhen},
                       {"end_differs", jobs.ended_elsewhen},
                       {"outcome_differs", jobs.other_outcome}};
  json["start_difference_s"] = {{"mean", number_or_null(jobs.mean)},
                                {"mean_size", number_or_null(jobs.mean_size)},
                                {"median_size", number_or_null(jobs.median_size)},
                                {"max_size", number_or_null(jobs.max_size)}};
  json["mean_wait_s"] = pair(jobs.wait);
  json["mean_response_s"] = pair(jobs.response);
  json["mean_bounded_slowdown"] = pair(jobs.bounded_slowdown);
  json["largest"] = ordered_json::array();
  for (const JobDifference& job : jobs.largest)
    json["largest"].push_back({{"job", number(job.job)}, {"start_a_s", seconds(job.a)}, {"start_b_s", seconds(job.b)}});
  return json;
}

}  // namespace

RunDifference compare_runs(const std::string& a, const std::string& b, Duration tolerance, bool placements,
                           std::size_t most_jobs) {
  RunDifference result;
  const std::filesystem::path files[] = {results::event_log_of(a), results::event_log_of(b)};
  result.runs[0].name = a;
  result.runs[1].name = b;
  for (std::size_t i = 0; i < 2; ++i) results::read_event_log(files[i], result.runs[i].list.observers());
  const DecisionList &of_a = result.runs[0].list, &of_b = result.runs[1].list;
  result.remarks = remarks_on(of_a.header(), of_b.header());
  const bool is_live = of_a.header().value("body") == "live" || of_b.header().value("body") == "live";
  if (is_live && tolerance == Duration::zero())
    result.remarks.emplace_back(
        "a real run is never the same to the microsecond: --tolerance 1 compares to the second");
  result.tolerance = tolerance;
  const auto machine = [](const DecisionList& list) {
    const std::string& text = list.header().value("machine");
    return text.starts_with("emulated:") ? text.substr(9) : text;
  };
  result.placements = placements && machine(of_a) == machine(of_b);
  result.jobs = job_differences(of_a.jobs(), of_b.jobs(), tolerance, most_jobs);
  if (result.jobs.shared == 0 && result.jobs.only_a + result.jobs.only_b > 0)
    throw InputError(fmt::format("{} and {} share no job: the traces are {} and {}", a, b, of_a.header().value("trace"),
                                 of_b.header().value("trace")));
  result.parting = first_difference(of_a, of_b, {tolerance, result.placements});
  result.event = first_event_difference(of_a.jobs(), of_b.jobs(), tolerance);
  if (!result.parting) return result;
  if (result.event && std::min(result.event->a, result.event->b) > result.parting->at) result.event.reset();
  const PartingSide* sides[] = {&result.parting->a, &result.parting->b};
  for (std::size_t i = 0; i < 2; ++i) {
    const Instant last = sides[i]->did.empty() ? result.parting->at : kNever;
    (void)history::follow(files[i], {&result.runs[i].before.emplace(sides[i]->record, last)});
  }
  return result;
}

std::string parting_text(const RunDifference& difference) {
  const Parting& parting = *difference.parting;
  const PartingSide* sides[] = {&parting.a, &parting.b};
  std::string text = fmt::format("they part at {} s ({}), at job {}:\n", replay::to_text(parting.at),
                                 results::instant_text(parting.at, results::TimeStyle::kClock), number(parting.job));
  for (std::size_t i = 0; i < 2; ++i) text += fmt::format("  {} {}\n", "AB"[i], did_text(*sides[i], parting.at));
  text += "just before, by the decisions so far:\n";
  for (std::size_t i = 0; i < 2; ++i) {
    const RunState& state = difference.runs[i].before->state();
    text += fmt::format("  {} {} of {} cores free, {} running, {} waiting; queue (cores x estimate): {}\n", "AB"[i],
                        state.free_cores(), state.cores(), state.running().size(), state.waiting().size(),
                        queue_text(state));
  }
  return text;
}

std::string difference_text(const RunDifference& difference) {
  std::string text;
  for (std::size_t i = 0; i < 2; ++i) {
    const ComparedRun& run = difference.runs[i];
    const log::Header& header = run.list.header();
    text += fmt::format("{} {}: {}, {}, machine {}, {}\n", "AB"[i], run.name, header.value("policy"),
                        header.value("body"), header.value("machine"), counted(run.list.jobs().rows().size(), "job"));
  }
  for (const std::string& remark : difference.remarks) text += remark + '\n';
  text += '\n';
  const std::string within =
      difference.tolerance > Duration::zero() ? fmt::format(" within {} s", replay::to_text(difference.tolerance)) : "";
  if (difference.none())
    return text + fmt::format("the same{}: {} decisions, {}\n", within, difference.runs[0].list.decisions().size(),
                              counted(difference.jobs.shared, "job"));
  if (difference.event) text += fmt::format("the first event that differs: {}\n", event_text(*difference.event));
  text += difference.parting ? parting_text(difference) : fmt::format("the policies decide the same{}\n", within);
  return text + '\n' + jobs_text(difference);
}

ordered_json to_json(const RunDifference& difference) {
  ordered_json json;
  json["same"] = difference.none();
  for (std::size_t i = 0; i < 2; ++i) {
    const log::Header& header = difference.runs[i].list.header();
    ordered_json& run = json[i == 0 ? "a" : "b"];
    run["run"] = difference.runs[i].name;
    for (const char* name : {"policy", "body", "machine", "trace"}) run[name] = header.value(name);
    run["decisions"] = difference.runs[i].list.decisions().size();
  }
  json["remarks"] = difference.remarks;
  json["tolerance_s"] = seconds(difference.tolerance);
  json["placements_compared"] = difference.placements;
  json["first_event_that_differs"] = nullptr;
  if (difference.event) {
    constexpr std::string_view kKinds[] = {"submission", "end", "outcome"};
    json["first_event_that_differs"] = {{"kind", kKinds[static_cast<std::size_t>(difference.event->kind)]},
                                        {"job", number(difference.event->job)},
                                        {"a_s", instant_or_null(difference.event->a)},
                                        {"b_s", instant_or_null(difference.event->b)}};
  }
  json["first_difference"] = nullptr;
  if (const auto& parting = difference.parting)
    json["first_difference"] = {{"at_s", seconds(parting->at)},
                                {"job", number(parting->job)},
                                {"a", json_of(parting->a, difference.runs[0].before->state())},
                                {"b", json_of(parting->b, difference.runs[1].before->state())}};
  json["jobs"] = json_of(difference.jobs);
  return json;
}

}  // namespace replay::compare
