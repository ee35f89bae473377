// `replay simulate`: a run in virtual time, with the same options; several policies in parallel on all cores, and with
// --seeds several traces or draws of each.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "scheduler/base/process/parallel.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/experiment/assumptions.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/seeds/seeds.hpp"
#include "scheduler/experiment/seeds/seeds_simulation.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/results/run_folder.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct SimulateGiven {
  experiment::SeedsOptions seeds;  // of one run, if it has none
  ResultOptions results;
};

void print_note(const std::optional<std::string>& note) {
  if (note) fmt::print(stderr, "note: {}\n", clean_lines(*note));
}

// Prints the notes of the first seed; those of the others are usually much the same.
void print_notes(const experiment::SeedsOutcome& outcome) {
  for (const std::string& note : outcome.notes.front()) fmt::print("seed {}: {}\n", outcome.seeds.front(), note);
  const auto others = std::ranges::count_if(outcome.notes, [](const auto& notes) { return !notes.empty(); }) -
                      (outcome.notes.front().empty() ? 0 : 1);
  if (others > 0)
    fmt::print("{} too: --json has them\n",
               counted(others, "other seed") + (others == 1 ? " has notes" : " have notes"));
}

void print_seeds(const experiment::SeedsOutcome& outcome) {
  print_notes(outcome);
  fmt::print("{}, machine {}, runtime model {}; 95 % confidence intervals (Student's t){}\n\n{}",
             counted(outcome.seeds.size(), "seed"), outcome.machine, outcome.runtime_model,
             outcome.trimmed ? ", the smallest and the largest value of each metric dropped" : "",
             seeds_table(outcome.results, outcome.trimmed));
  if (!outcome.traces_differ)
    for (const experiment::SeededResult& result : outcome.results)
      if (all_seeds_agree(result)) fmt::print("{}: the same for each seed\n", result.policy);
  if (!outcome.folder.empty()) fmt::print("results in {}\n", outcome.folder.string());
}

int simulate_seeds(const SimulateGiven& given, const std::string& command_line) try {
  experiment::SeedsSimulation simulation{given.seeds, command_line};
  print_note(simulation.note_on_curves());
  const HeedStops heeding;
  std::optional<terminal::ProgressLine> progress{std::in_place};
  const auto outcome = simulation.run([&progress](std::string_view line) { progress->show(line); });
  progress.reset();
  if (given.results.json)
    print_json(to_json(outcome));
  else
    print_seeds(outcome);
  return 0;
} catch (const sweep::Interrupted&) {
  fmt::print(stderr, "replay: interrupted: there is no result over all seeds\n");
  return exit_status_after_stop();
}

int simulate_all(const SimulateGiven& given, const std::string& command_line) {
  if (!given.seeds.seeds.empty()) return simulate_seeds(given, command_line);
  if (given.seeds.trim)
    throw UsageError("--trim: drops the smallest and the largest of several seeds: --seeds is missing");
  const experiment::Prepared prepared = experiment::prepare(given.seeds.run);
  print_note(experiment::note_on_curves(prepared));
  const HeedStops heeding;
  const bool writes = prepared.spec.outputs != "none";
  const fs::path folder =
      writes ? results::make_run_folder(given.results.out, experiment::texts_of(prepared.policies), given.results.force)
             : fs::path{};

  std::vector<results::PolicyRun> runs(prepared.policies.size());
  std::vector<std::string> errors(runs.size());  // of runs that could not write their results
  terminal::ProgressLine progress;
  const auto simulate_one = [&](std::size_t i) {
    const fs::path where = runs.size() == 1 ? folder : folder / prepared.policies[i].folder;
    const auto show = [&, i](std::size_t done) {
      progress.show(fmt::format("{}: {} of {} jobs", prepared.policies[i].text, done, prepared.workload().jobs.size()));
    };
    try {
      runs[i] = experiment::simulate_policy(prepared, i, writes ? where : fs::path{}, command_line, show);
    } catch (const InputError& error) {
      errors[i] = error.what();
    }
  };
  for_each_in_parallel(runs.size(), given.seeds.threads, simulate_one);
  std::erase_if(runs, [](const results::PolicyRun& run) { return run.policy.empty(); });
  std::erase(errors, "");
  const int status = runs.empty() ? 1 : report(runs, context_of(prepared), folder, given.results.json);
  if (!errors.empty()) throw InputError(fmt::format("{}", fmt::join(errors, "\nreplay: ")));
  return status;
}

}  // namespace

Command add_simulate(CLI::App& app, const std::string& command_line) {
  CLI::App& command =
      add_command(app, "simulate", "the same in virtual time: any machine, any number of jobs",
                  "Examples: replay simulate --trace KTH-SP2.swf.gz --policy easy,fcfs-malleable\n"
                  "          replay simulate --trace 'sets/kth-{seed}.swf' --seeds 1-10 --policy fcfs,easy");
  auto given = std::make_shared<SimulateGiven>();
  experiment::SeedsOptions& options = given->seeds;
  options.run.world = experiment::World::kSimulated;
  add_common_options(command, options.run, given->results);
  command.get_option("--machine")
      ->description(
          "flat:CORES, NODESxPACKAGESxCORES (3x2x4+1x1x8: nodes that differ), local, or hwloc's "
          "synthetic notation (default: the trace's own)");
  command.get_option("--runtime-model")
      ->description("how fast a shrunk job runs (`replay models` lists them; default utrera)");
  add_options_of_run(command, options.run, {"--flat", "--nodes-from"});
  add_text(command, "--seeds", options.seeds, "LIST",
           "once for each of these seeds, such as 1-20 or 1,3,7; {seed} in --trace, --jobs-from and --nodes-from is "
           "replaced. Prints means with 95 % confidence intervals, and writes a run's files with --outputs only")
      ->excludes(command.get_option("--seed"));
  command
      .add_option_function<std::string>("--live-page",
                                        [](const std::string&) {
                                          throw UsageError(
                                              "--live-page: follows a real run; a simulation is over too soon: `replay "
                                              "report` makes a page of what it leaves");
                                        })
      ->expected(0, 1)
      ->group("");  // not in --help: only for its message
  command.add_flag("--trim", options.trim, "with --seeds: drop the smallest and the largest value of each metric");
  add_count(command, "--jobs", options.threads, 1, std::numeric_limits<int>::max(),
            "cores to use for several policies or seeds (default: all)");
  return [given, command_line] {
    given->seeds.out = given->results.out;
    given->seeds.force = given->results.force;
    return simulate_all(*given, command_line);
  };
}

}  // namespace replay::cli
