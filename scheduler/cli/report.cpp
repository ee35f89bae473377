#include "scheduler/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/report/result_table.hpp"

namespace replay::cli {

// One, unless some policies have a part of it only.
static std::string machines_of(const std::vector<results::PolicyRun>& runs) {
  std::vector<std::string_view> machines;
  for (const results::PolicyRun& run : runs)
    if (std::ranges::find(machines, run.machine) == machines.end()) machines.push_back(run.machine);
  return fmt::format("{}", fmt::join(machines, " and "));
}

ReportContext context_of(const experiment::Prepared& run) {
  ReportContext context{run.loaded.report.to_lines(), run.spec.runtime_model, experiment::assumptions_of(run)};
  for (const std::string& note : run.notes) context.lines.push_back("note: " + note);
  return context;
}

int report(const std::vector<results::PolicyRun>& runs, const ReportContext& context,
           const std::filesystem::path& folder, bool json) {
  std::vector<report::Result> results;
  results.reserve(runs.size());
  for (const results::PolicyRun& run : runs)
    results.push_back({!json && run.interrupted ? run.policy + " (interrupted)" : run.policy, run.summary});
  std::vector<experiment::FiguresOfPolicy> figures;
  for (const results::PolicyRun& run : runs) figures.push_back({run.policy, &run.summary});
  bool failed = false;
  for (const results::PolicyRun& run : runs) {
    failed = failed || run.failed + run.lost_jobs > 0 || !run.lost.empty() || !run.fault.empty() ||
             !run.broken_off.empty() || !run.unwritten.empty();
  }

  if (json) {
    auto list = report::to_json(results);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      list[i]["machine"] = runs[i].machine;
      list[i]["folder"] = runs[i].folder.string();
      list[i]["interrupted"] = runs[i].interrupted;
      list[i]["disturbed"] = runs[i].disturbed ? nlohmann::ordered_json(*runs[i].disturbed) : nlohmann::ordered_json();
      list[i]["verified_jobs"] = runs[i].verified;
      list[i]["rigid_jobs"] = runs[i].rigid;
    }
    print_json(list);
  } else {
    fmt::print("\n");
    for (const std::string& line : context.lines) fmt::print("{}\n", clean_lines(line));
    for (const std::string& note : experiment::notes_on_figures(context.assumed, figures))
      fmt::print("note: {}\n", clean_lines(note));
    if (std::ranges::any_of(runs, [](const results::PolicyRun& run) { return !run.disturbed; }))
      fmt::print("note: what other programs used of the cores is not known: it was not measured\n");
    fmt::print("{}", clean_lines(fmt::format("machine {}, runtime model {}\n\n{}", machines_of(runs),
                                             context.runtime_model, report::result_table(results))));
    for (const results::PolicyRun& run : runs)
      if (run.interrupted)
        fmt::print("{}: interrupted: the figures are of the jobs that had come until then\n", clean_lines(run.policy));
    for (const results::PolicyRun& run : runs)
      if (run.verified > 0) fmt::print("{}: verification passed for {}\n", run.policy, counted(run.verified, "job"));
    for (const results::PolicyRun& run : runs)
      fmt::print("{}", clean_lines(report::rigid_lines(run.policy, run.rigid)));
    for (const results::PolicyRun& run : runs) {
      fmt::print("{}", clean_lines(report::node_line(run.policy, run.summary)));
      if (!run.often_down.empty())
        fmt::print("{}: down again and again: {}\n", run.policy, fmt::join(run.often_down, ", "));
    }
    if (!folder.empty()) fmt::print("results in {}\n", clean_line(folder.string()));
  }
  for (const results::PolicyRun& run : runs) {
    for (const std::string& why : {run.lost, run.fault})
      if (!why.empty()) fmt::print(stderr, "replay: {}: the run ended early: {}\n", run.policy, clean_lines(why));
    if (!run.broken_off.empty())
      fmt::print(stderr, "replay: {}: no further job was started: {}\n", run.policy, clean_lines(run.broken_off));
    for (const std::string& what : run.unwritten) fmt::print(stderr, "replay: {}: {}\n", run.policy, clean_lines(what));
    if (run.failed > 0)
      fmt::print(stderr, "replay: {}: {} failed; jobs.csv says which and why\n", run.policy,
                 counted(run.failed, "job"));
    if (run.lost_jobs > 0)
      fmt::print(stderr, "replay: {}: {} lost; jobs.csv says which and why\n", run.policy,
                 counted(run.lost_jobs, "job"));
    if (run.disturbed.value_or(false))
      fmt::print(stderr,
                 "replay: {}: disturbed: others used {:.0f} % of this machine before the run, {:.0f} % after it\n",
                 run.policy, run.load_before * 100, run.load_after * 100);
  }
  for (const results::PolicyRun& run : runs)  // a run that went on has had it before
    if (run.first_stop > 0) return exit_status_after_stop(run.first_stop);
  if (stops_asked() > 0) return exit_status_after_stop();  // also if it came after the end of all jobs
  return failed ? 1 : 0;
}

}  // namespace replay::cli
