// `replay rerun RUN`: repeats a run from its run.json and compares the results. This program carries out the recorded
// command in the folder where its relative paths lead to the same files; seed and runtime model are stated explicitly,
// and the policy's parameters if defaults have changed since.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/process/own_child.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/compare/run_difference.hpp"
#include "scheduler/experiment/consent.hpp"
#include "scheduler/experiment/past_run.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/results/input_file.hpp"
#include "scheduler/results/run_folder.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

struct RerunGiven {
  std::string run;
  std::string out;
  Duration tolerance = std::chrono::seconds{1};
  bool force_inputs = false;
  bool trust = false;
  bool json = false;
};

// One run of the folder, repeated.
struct Repetition {
  experiment::PastRun past;
  experiment::InputCheck inputs;
  fs::path folder{};  ///< of the new run
  int status = 0;
  bool has_logs = false;     ///< both runs have one
  bool same_bytes = false;   ///< of the logs
  std::uintmax_t bytes = 0;  ///< of the new log
  std::optional<compare::RunDifference> difference{};
};

// The folder itself, or one for each policy.
std::vector<fs::path> runs_of(const std::string& run) {
  expect_readable(run);
  if (!fs::is_directory(run)) throw InputError(fmt::format("{}: expected a run's folder", run));
  if (fs::exists(fs::path{run} / "run.json")) return {fs::path{run}};
  std::vector<fs::path> runs = results::folders_with("run.json", run);
  if (runs.empty())
    throw InputError(fmt::format("{}: has no run.json, which says what to repeat (--outputs run writes it)", run));
  return runs;
}

fs::path new_folder(const RerunGiven& given) {
  if (!given.out.empty() && fs::exists(given.out))
    throw InputError(
        fmt::format("--out {}: exists already; a repetition replaces nothing, choose another folder", given.out));
  fs::path name = fs::path{given.run}.lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return fs::absolute(results::make_run_folder(given.out, {"again-" + name.filename().string()}, false));
}

// Reports what is different now. Throws InputError if inputs have changed, unless `force`.
experiment::InputCheck checked_inputs(const experiment::PastRun& past, bool force) {
  experiment::InputCheck inputs = experiment::check_inputs(past);
  if (!inputs.problems.empty() && !force)
    throw InputError(
        fmt::format("{}\n  --force-inputs goes on with what there is", fmt::join(inputs.problems, "\n  ")));
  for (const std::string& problem : inputs.problems) fmt::print(stderr, "replay: {}\n", clean_lines(problem));
  for (const std::string& remark : experiment::remarks_on(past)) fmt::print(stderr, "note: {}\n", clean_lines(remark));
  return inputs;
}

// Asks for consent to the foreign code and machines that the folders name, before anything runs.
void expect_trust(std::vector<Repetition>& runs, const RerunGiven& given) {
  experiment::Request request{
      .what = fmt::format("{} names code that is not replay's own, or another machine", visible_text(given.run)),
      .items = {},
      .option = "--trust"};
  for (Repetition& run : runs) {
    const experiment::ForeignCode foreign = foreign_code(run.past, run.inputs.folder);
    run.past.spec.programs_from_trace = foreign.has_programs_from_trace;
    for (const std::string& item : foreign.items)
      if (std::ranges::find(request.items, item) == request.items.end()) request.items.push_back(item);
  }
  experiment::expect_consent(request, given.trust, stderr);
}

void repeat(Repetition& run, const fs::path& folder, const RerunGiven& given) {
  const experiment::PastRun& past = run.past;
  run.folder = folder;
  const ChildPlace place{.folder = run.inputs.folder, .out = given.json ? STDERR_FILENO : STDOUT_FILENO};
  run.status = run_child(experiment::repeated_command(past, folder), place).status;
  const fs::path before = past.folder / "events.log", now = folder / "events.log";
  run.has_logs = fs::exists(before) && fs::exists(now);
  if (!run.has_logs) return;
  run.bytes = fs::file_size(now);
  run.same_bytes = results::same_bytes(before, now);
  if (run.same_bytes) return;
  const bool live = past.is_live();
  run.difference =
      compare::compare_runs(past.folder.string(), folder.string(), live ? given.tolerance : Duration::zero(), !live, 5);
}

void print_text(const Repetition& run) {
  fmt::print("\n{} again, in {}: ", clean_line(run.past.folder.string()), clean_line(run.folder.string()));
  if (run.status > 1)
    fmt::print("it did not come to its end (exit status {})\n", run.status);
  else if (!run.has_logs)
    fmt::print("one of the two has no events.log, so that they cannot be compared\n");
  else if (run.same_bytes)
    fmt::print("the event logs are the same, byte for byte ({} bytes)\n", run.bytes);
  else if (run.past.is_live())
    fmt::print("real runs are never the same to the microsecond; compared:\n\n{}",
               clean_lines(difference_text(*run.difference)));
  else
    fmt::print("the event logs are NOT the same\n\n{}", clean_lines(difference_text(*run.difference)));
}

ordered_json to_json(const Repetition& run) {
  ordered_json json = {{"run", run.past.folder.string()}, {"again", run.folder.string()}, {"status", run.status}};
  json["same_bytes"] = run.has_logs ? ordered_json(run.same_bytes) : ordered_json();
  json["difference"] = run.difference ? to_json(*run.difference) : ordered_json();
  return json;
}

// A simulation must give the same log; a real run must come to its end.
int status_of(const Repetition& run) {
  const bool came_to_its_end = run.status <= 1;
  if (!run.past.is_live() && run.has_logs && came_to_its_end) return run.same_bytes ? 0 : 1;
  return run.status;
}

int rerun(const RerunGiven& given) {
  std::vector<Repetition> runs;
  for (const fs::path& folder : runs_of(given.run)) {
    experiment::PastRun past = experiment::read_past_run(folder);
    experiment::InputCheck inputs = checked_inputs(past, given.force_inputs);
    runs.push_back({.past = std::move(past), .inputs = std::move(inputs)});
  }
  expect_trust(runs, given);
  const fs::path folder = new_folder(given);
  auto list = ordered_json::array();
  int status = 0;
  for (Repetition& run : runs) {
    repeat(run, runs.size() == 1 ? folder : folder / run.past.folder.filename(), given);
    if (status == 0) status = status_of(run);
    if (given.json)
      list.push_back(to_json(run));
    else
      print_text(run);
    if (run.status > 1) break;
  }
  if (given.json) print_json(list);
  return status;
}

}  // namespace

Command add_rerun(CLI::App& app) {
  CLI::App& command = add_command(
      app, "rerun", "a run again, from its folder, and whether it came out the same",
      "RUN is a run's folder, or the folder of several policies' runs. A simulation that comes out otherwise exits "
      "with 1.\n"
      "Example: replay rerun runs/compare/easy --out runs/compare-again");
  auto given = std::make_shared<RerunGiven>();
  command.add_option("RUN", given->run, "the folder of the run")->required();
  add_text(command, "--out", given->out, "DIR", "folder for the results (default runs/TIME-again-NAME)");
  command.add_flag("--trust", given->trust,
                   "run the policies and programs of one's own, and connect to the machine, that the folder names");
  command.add_flag("--force-inputs", given->force_inputs, "go on although inputs have changed");
  add_duration(command, "--tolerance", "SECONDS", given->tolerance, kTolerance,
               "of a real run: instants so far apart count as the same", "1");
  command.add_flag("--json", given->json, "print the comparison as JSON; what the run itself prints goes to stderr");
  return [given] { return rerun(*given); };
}

}  // namespace replay::cli
