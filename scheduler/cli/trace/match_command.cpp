// `replay trace match FILE --profile PROFILE.json`: chooses the benchmark that stands for each job in a real run.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/trace/trace_io.hpp"
#include "scheduler/runtime_model/profile_file.hpp"
#include "traces/history.hpp"
#include "traces/tools/match.hpp"

namespace replay::cli {
namespace {

struct MatchGiven : TraceFiles {
  std::string profile, report;
  double time_scale = 1;
};

std::vector<MatchCandidate> candidates_of(const Profile& profile) {
  std::vector<MatchCandidate> candidates;
  for (const ProfileEntry& entry : profile.entries)
    candidates.push_back({entry.command, entry.processes, entry.runtime_s.value});
  return candidates;
}

constexpr double kShares[] = {0.5, 0.9, 0.99, 1};

nlohmann::json json_of(const MatchReport& report, const Matcher& matcher, const Profile& profile) {
  nlohmann::json programs = nlohmann::json::array();
  for (std::size_t i = 0; i < matcher.programs().size(); ++i)
    programs.push_back({{"number", i}, {"command", matcher.programs()[i]}, {"jobs", report.jobs_of_program[i]}});
  nlohmann::json within = nlohmann::json::array(), factors = nlohmann::json::array(), worst = nlohmann::json::array();
  for (const double error : MatchReport::kErrors)
    within.push_back({{"relative_error", error}, {"share_of_jobs", report.share_within(error)}});
  for (const double share : kShares) factors.push_back({{"share_of_jobs", share}, {"factor", report.factor_at(share)}});
  for (const BadMatch& match : report.worst)
    worst.push_back({{"job", match.job},
                     {"processes", match.processes},
                     {"measured_at_processes", match.matched_processes},
                     {"wanted_s", match.wanted_s},
                     {"program_s", match.runtime_s},
                     {"factor", match.factor},
                     {"program", match.program}});
  return {{"machine", profile.machine.name},
          {"profile_date", profile.date},
          {"records", report.records},
          {"matched", report.matched},
          {"unmatched", {{"no_run_time", report.without_runtime}, {"no_size", report.without_size}}},
          {"measured_at_another_size", report.at_other_size},
          {"run_time_zero", report.zero_runtimes},
          {"mean_relative_error", report.mean_relative_error},
          {"mean_absolute_relative_error", report.mean_absolute_error},
          {"jobs_total_s", report.total_wanted_s},
          {"programs_total_s", report.total_runtime_s},
          {"within", within},
          {"factors", factors},
          {"programs", programs},
          {"worst", worst}};
}

void print(const MatchReport& report, const Profile& profile) {
  fmt::print(stderr, "replay: {} of {} records matched to programs of '{}'{}\n", report.matched, report.records,
             profile.machine.name, profile.is_sample ? ", which is a sample and no machine of yours" : "");
  if (report.matched < report.records)
    fmt::print(stderr, "replay: unmatched: {} without a run time, {} without a size\n", report.without_runtime,
               report.without_size);
  if (report.at_other_size > 0)
    fmt::print(stderr, "replay: {} by the nearest size that was measured: replay calibrate measures more\n",
               report.at_other_size);
  if (report.matched == report.zero_runtimes) return;
  fmt::print(
      stderr,
      "replay: run time of the program against the job's: mean error {:+.1f} %, mean absolute error {:.1f} %; within "
      "10 % for {:.1f} % of the jobs, within a factor of {:.3g} for half of them, {:.3g} for 90 %\n",
      report.mean_relative_error * 100, report.mean_absolute_error * 100, report.share_within(0.1) * 100,
      report.factor_at(0.5), report.factor_at(0.9));
  const BadMatch& worst = report.worst.front();
  fmt::print(stderr, "replay: worst: job {} ({}, {:.6g} s), program {} of {:.6g} s\n", worst.job,
             counted(worst.processes, "process", "processes"), worst.wanted_s, worst.program, worst.runtime_s);
}

int match(const MatchGiven& given) {
  if (!(given.time_scale > 0 && given.time_scale <= 1e6))
    throw UsageError(
        fmt::format("--time-scale: expected a number above 0, at most 1000000, found {}", given.time_scale));
  expect_file_of_its_own("--report", given.report,
                         {given.input.input, given.input.jobs_from, given.output.output, given.output.jobs_to},
                         given.output.force);
  const Profile profile = read_profile(given.profile);
  if (profile.entries.empty())
    throw InputError(
        fmt::format("{}: has no benchmark to match jobs to: `replay calibrate -o {}` measures them on cores that are "
                    "not emulated",
                    given.profile, given.profile));
  Matcher matcher(candidates_of(profile), {.time_scale = given.time_scale});
  TraceReader reader = open_trace(given.input);
  TraceWriter writer = create_trace(given.output);
  SwfHeader header = reader.header();
  matcher.set_programs(header);
  note_history(header, given.time_scale == 1 ? "replay trace match"
                                             : fmt::format("replay trace match --time-scale {}", given.time_scale));
  writer.write(header);
  copy_entries(reader, writer, [&matcher](TraceEntry& entry) { matcher.apply(entry); });
  writer.close();
  print(matcher.report(), profile);
  if (!given.report.empty()) write_json(given.report, json_of(matcher.report(), matcher, profile));
  return 0;
}

}  // namespace

Command add_trace_match(CLI::App& trace) {
  CLI::App& command = add_command(
      trace, "match",
      "choose the benchmark that stands for each job: nearest run time at its size, of a machine's profile",
      "Example: replay trace match week.swf --profile mine.json --time-scale 0.01 --report match.json -o runnable.swf");
  auto given = std::make_shared<MatchGiven>();
  add_trace_files(command, *given);
  command.add_option("--profile", given->profile, "what replay calibrate has measured (docs/formats/profile.md)")
      ->required()
      ->type_name("FILE");
  command.add_option("--time-scale", given->time_scale, "a job of one hour is matched to a program of this many hours")
      ->capture_default_str();
  add_text(command, "--report", given->report, "FILE", "all figures as JSON");
  return [given] { return match(*given); };
}

}  // namespace replay::cli
