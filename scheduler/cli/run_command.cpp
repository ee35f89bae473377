// `replay --trace FILE --policy LIST`: runs the trace with real programs, on this machine's cores or emulated ones.
// Estimates the duration, starts the node agent, lets the live engine run each policy in turn, writes the results.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/cli/run_viewers.hpp"
#include "scheduler/experiment/consent.hpp"
#include "scheduler/experiment/live_run.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/report/live/live_page.hpp"
#include "scheduler/report/live/live_page_address.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/validate/planned_cells.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kBytesPerProcess = 16e6;  // resident, of a rank of `phases` (measured)
constexpr double kStartUpBase = 0.1;       // seconds: measured, 1 rank 0.1 s, 32 ranks 1.2 s
constexpr double kStartUpPerProcess = 0.035;

struct RunGiven {
  experiment::RunSpec run;
  ResultOptions results;
  bool yes = false;
  bool dry_run = false;
  bool plain = false;
  std::optional<std::uint16_t> live_page;  // its port, 0: any
};

void announce(std::FILE* out, const experiment::Prepared& run, const experiment::RealMachine& machine,
              double real_seconds) {
  const auto& jobs = run.workload().jobs;
  std::int64_t widest = 0, all_ranks = 0;
  for (const TracedJob& traced : jobs) {
    widest = std::max<std::int64_t>(widest, traced.job.processes);
    all_ranks += traced.job.processes;
  }
  const std::int64_t most_at_once = std::min(all_ranks, std::int64_t{2} * machine.machine().size());
  fmt::print(out, "{} jobs on {}, policies: {}\n", jobs.size(), machine.description(),
             fmt::join(texts_of(run.policies), ", "));
  fmt::print(out, "it will take about {}; widest job {} processes, start-up up to about {:.1f} s, about {} of memory\n",
             about_text(real_seconds), widest, kStartUpBase + kStartUpPerProcess * static_cast<double>(widest),
             size_text(kBytesPerProcess * static_cast<double>(most_at_once)));
  for (const std::string& note : run.notes) fmt::print(out, "note: {}\n", clean_lines(note));
}

void print_commands(const experiment::Prepared& run, const experiment::Programs& programs) {
  for (const TracedJob& traced : run.workload().jobs)
    fmt::print("job {}: at {} s, mpiexec -n {} {}\n", static_cast<std::int64_t>(traced.job.id),
               to_text(traced.job.submitted), traced.job.processes,
               visible_text(fmt::format("{}", fmt::join(programs.command(traced), " "))));
}

// What the page says when it follows no run any more.
std::string last_words(const std::vector<results::PolicyRun>& runs, const fs::path& folder) {
  const results::PolicyRun& last = runs.back();
  const std::string why = last.lost.empty() ? last.fault : last.lost;
  return fmt::format("the run {}; `replay report {}` makes a page of it that stays",
                     !why.empty()       ? "ended early: " + why
                     : last.interrupted ? "was interrupted"
                                        : "is over",
                     folder.string());
}

// Finds the programs of the jobs: throws before the start if one is missing.
experiment::Programs programs_of(experiment::Prepared& run) {
  const experiment::RunSpec& spec = run.spec;
  experiment::Programs programs{spec.program, run.loaded.programs, spec.time_scale, spec.seed};
  for (const TracedJob& traced : run.workload().jobs) (void)programs.command(traced);
  if (spec.time_scale != 1 && programs.has_fixed_durations(run.workload()))
    run.notes.push_back("some jobs run programs whose run time does not follow --time-scale");
  return programs;
}

// Runs the policies one after the other, until one is stopped or has lost its executor.
int run_all(const RunGiven& given, const experiment::Prepared& run, const experiment::RealMachine& machine,
            const experiment::Programs& programs, const std::string& command_line, std::FILE* out) {
  std::optional<report::LivePage> page;
  if (const std::string& trace = given.run.trace; given.live_page)
    page.emplace(*given.live_page, "live: " + (trace == "-" ? "standard input" : fs::path{trace}.filename().string()));
  machine.leave_the_jobs_cores();
  const HeedStops heeding;  // until the results are in place
  const fs::path folder =
      results::make_run_folder(given.results.out, experiment::texts_of(run.policies), given.results.force);
  std::optional<report::LivePageAddress> address;
  if (page) address.emplace(out, page->url(), folder / results::kLivePageFile);
  std::vector<results::PolicyRun> runs;
  for (std::size_t i = 0; i < run.policies.size(); ++i) {
    const fs::path where = run.policies.size() == 1 ? folder : folder / run.policies[i].folder;
    std::optional<RunViewers> viewers;
    const auto watch = [&] {
      return viewers.emplace(out, given.plain, run.workload().jobs.size(), page ? &*page : nullptr, where).viewers();
    };
    try {
      runs.push_back(experiment::run_policy(run, i, machine, programs, where, command_line, watch));
    } catch (const InputError& error) {  // the results cannot be written
      if (runs.empty()) throw;
      (void)report(runs, context_of(run), folder, given.results.json);  // of the policies before it
      throw;
    }
    if (stops_asked() > 0 || !runs.back().lost.empty()) break;
  }
  if (page) page->finish(last_words(runs, folder));
  return report(runs, context_of(run), folder, given.results.json);
}

int run(const RunGiven& given, const std::string& command_line) {
  std::FILE* out = given.results.json ? stderr : stdout;
  experiment::RealMachine machine{given.run};
  experiment::Prepared run = experiment::prepare(given.run, machine.cores());
  const experiment::Programs programs = programs_of(run);
  const experiment::Request request =
      experiment::request_for_programs(run.spec.trace, programs.named_by_trace(run.workload()));
  if (given.dry_run) {
    experiment::show(request, out);
    print_commands(run, programs);
    return 0;
  }
  experiment::expect_consent(request, run.spec.programs_from_trace, out);
  machine.expect_runs(run.policies.size());
  machine.find_programs();
  run.notes.insert(run.notes.begin(), machine.notes().begin(), machine.notes().end());
  if (const auto note = launcher::threads_note(); note && !machine.is_emulated()) run.notes.push_back(*note);

  const double real_seconds = experiment::foresee(run);
  announce(out, run, machine, real_seconds);
  if (real_seconds > kLongRun && !given.yes)
    throw UsageError(fmt::format("this run takes about {}: say --yes to start it, or a smaller --time-scale",
                                 about_text(real_seconds)));
  return run_all(given, run, machine, programs, command_line, out);
}

}  // namespace

void prepare_runtime() { experiment::use_hwloc(); }

Command add_run(CLI::App& app, const std::string& command_line) {
  auto given = std::make_shared<RunGiven>();
  add_common_options(app, given->run, given->results);
  add_node_options(app, given->run);
  app.get_option("--machine")
      ->description(
          "where to run: local, local:CORES by OS index, such as local:0-3, virtual cores: "
          "emulated:NODESxPACKAGESxCORES, those of other hosts: hosts:FILE, or of a `replay agent`: agent:HOST:PORT "
          "(default "
          "local)");
  app.get_option("--runtime-model")
      ->description("how fast a shrunk job is expected to run (`replay models` lists them; default isolated)");
  add_options_of_run(
      app, given->run,
      {"--agent-key", "--bootstrap", "--lease", "--time-scale", "--pairing", "--program", "--programs-from-trace"});
  app.add_flag("--yes", given->yes, "start even if it takes longer than an hour");
  app.add_flag("--dry-run", given->dry_run, "print each job's command and stop");
  add_live_page_option(app, given->live_page);
  app.add_flag("--plain", given->plain, "plain lines instead of the live view, on a terminal too");
  return [given, command_line] { return run(*given, command_line); };
}

}  // namespace replay::cli
