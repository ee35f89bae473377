// `replay validate`: runs a trace at several loads under several policies, simulated and for real, and shows both with
// errors; with --paper-experiment the validation of the FCFS-malleable paper. Each cell's result is kept when it ends,
// so that the same command continues after a stop.

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/json/write_json.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/cli/command.hpp"
#include "scheduler/experiment/consent.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/results/event_log_file.hpp"
#include "scheduler/runtime_model/runtime_model.hpp"
#include "scheduler/validate/cell.hpp"
#include "scheduler/validate/page.hpp"
#include "scheduler/validate/paper.hpp"
#include "scheduler/validate/paper_experiment.hpp"
#include "scheduler/validate/planned_cells.hpp"
#include "scheduler/validate/table.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kRealTolerance = 0.5;  // real seconds that decisions may lie apart, by default

struct ValidateGiven {
  validate::ValidationSetting setting;
  ResultOptions results;
  std::string loads, cells, tolerance, page;
  bool yes = false, paper = false, physical = false, quick = false;
  bool seed = false;  // is given
};

Duration tolerance_of(const ValidateGiven& given) {
  if (given.tolerance.empty()) return from_seconds(std::max(1.0, kRealTolerance / given.setting.run.time_scale));
  return duration_of("--tolerance", given.tolerance, kTolerance);
}

// ---- the paper's experiment ----

// The command that makes the whole page, independent of the cells that this one ran.
std::string whole_command(const ValidateGiven& given) {
  const validate::ValidationSetting& setting = given.setting;
  std::string text = "replay validate --paper-experiment";
  if (given.physical) text += " --physical";
  experiment::RunSpec usual;
  usual.machine = given.physical ? "local" : validate::kPaperMachine;
  usual.time_scale = given.physical ? 1 : validate::kPaperTimeScale;
  usual.runtime_model = given.physical ? kCalibrated : "isolated";
  experiment::RunSpec run = setting.run;
  run.profile = fs::path{run.profile}.filename().string();
  const auto add = [&](std::initializer_list<const char*> options) {
    for (const char* option : options)
      if (const std::string value = option_text(run, option); value != option_text(usual, option))
        text += fmt::format(" {} {}", option, value);
  };
  add({"--machine", "--time-scale", "--runtime-model"});
  if (given.seed) text += fmt::format(" --seed {}", run.seed);
  add({"--profile", "--overrun", "--until", "--program", "--pairing", "--back-end", "--quantum", "--turn",
       "--job-network"});
  if (!given.tolerance.empty()) text += fmt::format(" --tolerance {}", given.tolerance);
  for (const auto& [name, value] : run.cleaning) text += fmt::format(" --{} {}", name, value);
  if (run.node.smt) text += " --smt";
  return text + " --yes";
}

void write_page(const ValidateGiven& given, const validate::PaperExperiment& paper,
                const std::vector<validate::ValidationCell>& all, const fs::path& out) {
  const fs::path file = given.page.empty() ? out / "validation.md" : fs::path{given.page};
  write_whole_file(file,
                   validate::to_markdown(validate::page_of(paper, given.setting, all, out, whole_command(given))));
  fmt::print(given.results.json ? stderr : stdout, "page in {}\n", file.string());
}

void set_paper_defaults(ValidateGiven& given, const CLI::App& command) {
  validate::ValidationSetting& setting = given.setting;
  for (const char* option : {"--trace", "--policy", "--loads", "--jobs-from"})
    if (command.count(option) > 0)
      throw UsageError(fmt::format("{}: the paper's experiment has its own; expected one of the two", option));
  if (given.physical && setting.run.runtime_model.empty()) setting.run.runtime_model = kCalibrated;
  if (command.count("--machine") == 0) setting.run.machine = given.physical ? "local" : validate::kPaperMachine;
  if (command.count("--time-scale") == 0) setting.run.time_scale = given.physical ? 1 : validate::kPaperTimeScale;
  given.seed = command.count("--seed") > 0;
}

// ---- all of it ----

// Asks once for each trace: its cells under several policies run the same programs.
void expect_consent_to_programs(validate::ValidationSetting& setting, const std::vector<validate::PlannedCell>& planned,
                                std::FILE* out) {
  std::map<std::string, experiment::Request> by_trace;
  for (const validate::PlannedCell& p : planned)
    if (const std::string& trace = p.cell.trace; !p.result && !by_trace.contains(trace))
      by_trace[trace] = experiment::request_for_programs(trace, validate::named_by_trace(setting, p.cell));
  for (const auto& [trace, request] : by_trace)
    experiment::expect_consent(request, setting.run.programs_from_trace, out);
  for (const auto& [trace, request] : by_trace)
    if (!request.items.empty()) setting.run.programs_from_trace = true;
}

fs::path output_folder(const ValidateGiven& given) {
  const char* usual = !given.paper ? "validate" : given.physical ? "validation-physical" : "validation";
  fs::path folder = given.results.out.empty() ? usual : given.results.out;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError(
        fmt::format("--out {}: cannot be made: {}", folder.string(), error ? error.message() : "a file has that name"));
  return folder;
}

int validate_all(ValidateGiven given, const CLI::App& command) {
  validate::ValidationSetting& setting = given.setting;
  setting.force = given.results.force;
  std::FILE* out = given.results.json ? stderr : stdout;
  if (!given.paper && (given.physical || given.quick || !given.page.empty()))
    throw UsageError("--physical, --quick and --page: expected --paper-experiment beside them");
  if (given.paper) set_paper_defaults(given, command);
  if (setting.run.runtime_model.empty()) setting.run.runtime_model = "isolated";
  if (names_model(setting.run.runtime_model, kCalibrated) &&
      (setting.run.time_scale != 1 || !setting.run.program.empty()))
    throw UsageError(
        "--runtime-model calibrated: the simulator takes a profile's run times at --time-scale 1 and the trace's own "
        "programs; expected neither --time-scale nor --program beside it");
  std::optional<experiment::RealMachine> machine{setting.run};
  setting.machine_text = machine->text();
  const CoreCount cores = machine->machine().size();
  const std::string where = machine->description();
  machine->expect_runs(2);  // each cell's real run comes after this connection
  machine.reset();
  setting.tolerance = tolerance_of(given);

  const HeedStops heeding;
  const fs::path folder = output_folder(given);
  validate::PaperExperiment paper;
  if (given.paper) paper = validate::prepare_paper(setting, given.physical, given.seed, cores, folder / "traces");
  const std::vector<validate::ValidationCell> all =
      given.paper ? validate::paper_cells(folder / "traces", paper.workload, setting.run.seed)
                  : validate::cells_of_trace(setting, given.loads, folder / "traces", cores);
  const std::string list = given.quick && given.cells.empty() ? validate::kQuickCell : given.cells;
  const std::vector<validate::ValidationCell> chosen = validate::chosen_cells(all, list);
  std::vector<validate::ValidationCell> others;  // the page and the file include these, too
  std::ranges::copy_if(all, std::back_inserter(others), [&chosen](const validate::ValidationCell& cell) {
    return std::ranges::find(chosen, cell.name, &validate::ValidationCell::name) == chosen.end();
  });
  (void)validate::finished_cells(setting, others, folder);  // throws now, and not after hours
  std::vector<validate::PlannedCell> planned = validate::plan_cells(setting, chosen, folder);
  expect_consent_to_programs(setting, planned, out);
  const double real_seconds = validate::real_seconds_of(planned);
  const std::size_t done = validate::results_of(planned).size();
  if (paper.typical)
    fmt::print(out, "seed {}: of {} the one whose gains in response are nearest to their means (by {:.1f} points)\n",
               paper.typical->seed, validate::kPaperSeeds, paper.typical->distance);
  fmt::print(out, "{} on {}, {} of them finished already; the others take about {}\n", counted(planned.size(), "cell"),
             where, done, about_text(real_seconds));
  if (real_seconds > kLongRun && !given.yes)
    throw UsageError(fmt::format("this validation takes about {}: say --yes to start it, or choose some --cells",
                                 about_text(real_seconds)));
  bool interrupted = false;
  try {
    validate::run_cells(setting, planned, [out](std::string_view line) {
      fmt::print(out, "{}\n", line);
      std::fflush(out);
    });
  } catch (const sweep::Interrupted&) {
    interrupted = true;
    fmt::print(stderr,
               "replay: interrupted; {} of {} cells have a result, the same command{} goes on with the others\n",
               validate::results_of(planned).size(), planned.size(), setting.force ? " without --force" : "");
  }
  const std::vector<validate::CellResult> results = validate::results_of(planned);
  if (!results.empty()) {
    write_json(folder / "validation.json", validate::validation_json(validate::finished_cells(setting, all, folder)));
    if (given.results.json)
      print_json(validate::validation_json(results));
    else
      fmt::print("\n{}results in {}\n", clean_lines(validate::validation_text(results)), folder.string());
  }
  if (interrupted) return exit_status_after_stop();
  if (given.paper) write_page(given, paper, all, folder);
  return std::ranges::any_of(results, [](const validate::CellResult& result) { return result.real.failed > 0; }) ? 1
                                                                                                                 : 0;
}

void add_options(CLI::App& command, ValidateGiven& given) {
  validate::ValidationSetting& setting = given.setting;
  add_common_options(command, setting.run, given.results);
  add_node_options(command, setting.run);
  command.remove_option(command.get_option("--outputs"));
  add_host_options(command, setting.run);
  command.get_option("--runtime-model")
      ->description(
          "how fast a shrunk job runs (`replay models` lists them; default isolated, with --physical calibrated)");
  command.get_option("--out")->description(
      "folder for cells and results (default validate; validation or validation-physical for the paper's experiment)");
  command.get_option("--force")->description("run cells again that have a result");
  command.get_option("--json")->description("print the result as JSON");
  command.get_option("--seed")->description(
      "everything that is drawn by chance follows from it; the paper's experiment, if none is given, takes the one of "
      "1 "
      "to 20 whose simulated gains are nearest to their means");
  add_options_of_run(command, setting.run, {"--time-scale", "--pairing", "--program"});
  command.get_option("--pairing")->description("which ranks of a shrunk job share a core: block or cyclic");
  command.get_option("--program")->description("run this MPI program for every job, as in a real run");
  add_text(command, "--loads", given.loads, "LIST",
           "offered loads in %, each by scaled run times (default: the trace as it is)");
  add_text(command, "--cells", given.cells, "LIST",
           "only these cells, such as 30/easy, or all that begin so, such as 30");
  add_text(command, "--tolerance", given.tolerance, "SECONDS",
           "decisions so far apart are the same (default: half a real second, in the trace's time; 1 s at least)");
  add_options_of_run(command, setting.run, {"--programs-from-trace"});
  command.add_flag("--yes", given.yes, "start even if it takes longer than an hour");
  command.option_defaults()->group("The FCFS-malleable paper's experiment");
  command.add_flag("--paper-experiment", given.paper, "its cells, LOAD/ARRIVALS/POLICY, and a page beside its Table 1");
  command.add_flag("--quick", given.quick, fmt::format("one cell, {}: ten minutes", validate::kQuickCell));
  command.add_flag("--physical", given.physical,
                   "benchmarks of --profile on this machine's own cores instead of emulated ones");
  add_text(command, "--page", given.page, "FILE", "where the page goes (default OUT/validation.md)");
}

}  // namespace

Command add_validate(CLI::App& app) {
  CLI::App& command = add_command(
      app, "validate", "simulator and real run side by side: figures, errors, where they part",
      "Each cell, a load under a policy, is kept when it ends: the same command goes on where it was stopped.\n"
      "Examples: replay validate --trace traces/emulated-small.swf --policy easy,fcfs-malleable --machine "
      "emulated:2x2x2\n"
      "          replay validate --paper-experiment --cells 30/poisson --out validation");
  auto given = std::make_shared<ValidateGiven>();
  add_options(command, *given);
  return [given, &command] {
    try {
      return validate_all(*given, command);
    } catch (const sweep::Interrupted&) {  // while it was only simulating
      fmt::print(stderr, "replay: interrupted\n");
      return exit_status_after_stop();
    }
  };
}

}  // namespace replay::cli
