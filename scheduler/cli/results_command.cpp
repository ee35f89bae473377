// `replay results RUN`: makes all outputs of a run again from its event log, and prints its table.

#include <fmt/format.h>

#include <filesystem>

#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/remade_run.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

struct ResultsGiven {
  std::string run;
  std::string out;
  std::string outputs;
  bool force = false;
  bool json = false;
};

int results(const ResultsGiven& given) {
  (void)results::parse_outputs(given.outputs);  // an error in it is reported first
  const std::vector<fs::path> logs = results::event_logs_of(given.run);
  const HeedStops heeding;
  std::vector<results::RemadeRun> remade;
  for (const fs::path& log : logs) {
    const fs::path out = given.out;
    const fs::path target = out.empty() || logs.size() == 1 ? out : out / log.parent_path().filename();
    try {
      remade.push_back(results::remake_run(log, {.target = target, .outputs = given.outputs, .force = given.force}));
    } catch (const results::RemakingStopped&) {
      fmt::print(stderr, "replay: interrupted: the results of {} are as they were\n", log.parent_path().string());
      return exit_status_after_stop();
    }
  }
  std::vector<results::PolicyRun> runs;
  bool is_done = true;
  for (const results::RemadeRun& one : remade) {
    for (const std::string& remark : one.remarks)
      fmt::print(stderr, "replay: {}: {}\n", clean_line(one.target.string()), clean_line(remark));
    is_done = is_done && one.is_complete && one.run.unwritten.empty();
    runs.push_back(one.run);
  }
  (void)report(runs, {remade.front().notes, remade.front().runtime_model},
               given.out.empty() ? fs::path{given.run} : fs::path{given.out}, given.json);
  return is_done ? 0 : 1;
}

}  // namespace

Command add_results(CLI::App& app) {
  CLI::App& command = add_command(
      app, "results", "a run's outputs and its table again, from its event log",
      "RUN is a run's folder (or the folder of several policies' runs), or its events.log by itself. Files that are "
      "there and come\nout the same stay as they are; those that do not are kept unless --force is given, and the exit "
      "status is 1.\n"
      "Examples: replay results runs/20261121-040000-easy                after a run that was killed\n"
      "          replay results runs/old --outputs jobs,metrics --out runs/old-now");
  auto given = std::make_shared<ResultsGiven>();
  command.add_option("RUN", given->run, "the run")->required();
  add_text(command, "--out", given->out, "DIR", "folder for the outputs (default: the run's own)");
  add_text(
      command, "--outputs", given->outputs, "LIST",
      fmt::format("which outputs to make: all, none (the table alone), or some of {}", results::output_list(true)));
  command.add_flag("--force", given->force, "replace files that are there and come out otherwise");
  command.add_flag("--json", given->json, "print the result table as JSON");
  return [given] { return results(*given); };
}

}  // namespace replay::cli
