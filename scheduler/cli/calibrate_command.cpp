// `replay calibrate`: measures the benchmarks on this machine, or on hosts, and writes the figures to its profile, which
// the runtime model `calibrated` and `replay trace match` read. The profile is written after every figure and an existing
// profile is extended: an interrupted run loses one measurement, and the same command continues it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/terminal/progress_line.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/calibrate/calibration.hpp"
#include "scheduler/calibrate/kept_profile.hpp"
#include "scheduler/calibrate/machine_measurer.hpp"
#include "scheduler/calibrate/plan.hpp"
#include "scheduler/calibrate/report.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kQuickBudget = 120;
constexpr double kUsualBudget = 15 * 60;
constexpr double kFullBudget = 4 * 3600;
constexpr int kQuickReadings = 5;
constexpr int kUsualReadings = 9;

// Benchmarks that take --class and --repeat and print the report of docs/benchmarks.md.
constexpr std::string_view kKernels[] = {"ep", "cg", "is", "mg", "ft", "lu"};
constexpr std::string_view kClasses[] = {"S", "W", "A", "B"};

struct CalibrateGiven {
  experiment::RunSpec run;  // only its machine
  std::string benchmarks, classes, processes;
  Duration budget{};  // 0: not given
  std::string out;
  double spread = 5;
  bool quick = false, full = false, fresh = false, json = false;
};

// The benchmarks that are installed. Reports missing ones; missing ones that the user named are an error.
std::vector<std::string> benchmarks_of(const CalibrateGiven& given) {
  const std::vector<std::string> wanted = given.benchmarks.empty()
                                              ? std::vector<std::string>{std::begin(kKernels), std::end(kKernels)}
                                              : chosen_of("--benchmarks", given.benchmarks, kKernels);
  std::vector<std::string> there, missing;
  for (const std::string& name : wanted) (benchmark(name) ? there : missing).push_back(name);
  const std::string note = fmt::format("not in {}: {}", library_folder().string(), fmt::join(missing, ", "));
  if (there.empty() || (!given.benchmarks.empty() && !missing.empty())) throw InputError(note);
  if (!missing.empty()) fmt::print(stderr, "replay: {}; passed over\n", note);
  return there;
}

std::vector<std::string> classes_of(const CalibrateGiven& given) {
  if (!given.classes.empty()) return chosen_of("--classes", given.classes, kClasses);
  if (given.quick) return {"S"};
  if (given.full) return {"S", "W", "A", "B"};
  return {"S", "W", "A"};
}

std::vector<ProcessCount> processes_of(const CalibrateGiven& given, CoreCount cores) {
  if (given.processes.empty()) return calibrate::usual_sizes(cores);
  std::vector<ProcessCount> sizes;
  for (const std::string_view item : split(given.processes, ',')) {
    const auto n = parse_number<ProcessCount>(item, 1, processes_at(cores, 1));
    if (!n)
      throw UsageError(
          fmt::format("--processes: expected counts from 1 to {}, a core for each process, joined by commas, "
                      "found '{}'",
                      cores, item));
    sizes.push_back(*n);
  }
  std::ranges::sort(sizes);
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  return sizes;
}

// Up to the time limit of a batch system at most.
double budget_of(const CalibrateGiven& given, const std::optional<live::MachineEnd>& end) {
  const double usual = given.quick ? kQuickBudget : given.full ? kFullBudget : kUsualBudget;
  const double budget = given.budget > Duration::zero() ? seconds(given.budget) : usual;
  if (!end) return budget;
  const std::chrono::duration<double> left = end->at - live::kBeforeMachineEnd - std::chrono::steady_clock::now();
  return std::min(budget, left.count());
}

fs::path place_of(const CalibrateGiven& given, const experiment::RealMachine& machine) {
  if (!given.out.empty()) return given.out;
  if (!machine.is_here()) return default_profile_path(kProfileOfHosts);
  return machine.is_emulated() ? default_profile_path("profile-emulated.json") : default_profile_path();
}

// Of other hosts, CPU, kernel and MPI are not known.
ProfileMachine facts_of(const experiment::RealMachine& machine) {
  const Machine& cores = machine.machine();
  ProfileMachine facts;
  if (machine.is_here()) {
    facts = machine_here(cores.size());
  } else {
    facts.name = machine.name();
    facts.cores = cores.size();
    facts.nodes = cores.to_text();
    facts.hosts = machine.hosts();
  }
  if (!machine.is_emulated()) return facts;
  facts.emulated = machine.text();
  facts.name += " " + facts.emulated;
  return facts;
}

class CalibrateCommand {
 public:
  explicit CalibrateCommand(const CalibrateGiven& given)
      : given_(given), machine_(given.run), setting_{.machine = calibrate::measured_machine(machine_)} {
    if (!(given.spread > 0 && given.spread <= 100))
      throw UsageError(fmt::format("--spread: expected per cent above 0 and up to 100, found {}", given.spread));
    limits_ = {.spread = given.spread / 100,
               .most_readings = given.quick ? kQuickReadings : kUsualReadings,
               .budget_s = budget_of(given, machine_.end())};
    machine_.find_programs();
    const CoreCount cores = machine_.machine().size();
    setting_.has_vmlib = !machine_.is_here() || !machine_.node().vmlib.empty();
    setting_.place.measures_load = machine_.is_here();
    if (!machine_.is_here()) setting_.place.working_directory = fs::current_path();
    selection_ = {.cores = cores, .emulated = machine_.is_emulated()};
    selection_.node_cores = calibrate::cores_by_node(setting_.machine);
    selection_.message =
        machine_.is_here() || (machine_.is_emulated() && selection_.node_cores.front() >= calibrate::kEmulatedCores);
    selection_.package_cores.clear();
    for (const auto& package : calibrate::packages_of(setting_.machine))
      selection_.package_cores.push_back(static_cast<CoreCount>(package.size()));
    selection_.processes = processes_of(given, cores);
    if (!machine_.is_emulated()) {
      selection_.benchmarks = benchmarks_of(given);
      selection_.classes = classes_of(given);
      setting_.benchmarks = selection_.benchmarks;
    } else {
      for (const auto& [option, text] : {std::pair{"--benchmarks", &given.benchmarks}, {"--classes", &given.classes}})
        if (!text->empty())
          throw UsageError(
              fmt::format("{} {}: on emulated cores no benchmark is measured, only launch, end, resizes and "
                          "messages",
                          option, *text));
    }
    kept_.emplace(place_of(given, machine_), facts_of(machine_), given.fresh);
    if (!kept_->rebuilt().empty())
      fmt::print(stderr, "replay: {}: {} built anew since: their figures there are dropped\n", kept_->path().string(),
                 fmt::join(kept_->rebuilt(), ", "));
    kept_->profile().spread_bound = limits_.spread;
  }

  int run() {
    const HeedStops heeding;
    kept_->expect_writable();
    const std::vector<calibrate::Measurement> plan = plan_of(selection_);
    if (std::ranges::find(plan, calibrate::Kind::kPair, &calibrate::Measurement::kind) != plan.end())
      measure_in_turns();
    std::optional<TemporaryFolder> folder;  // of the jobs, where all hosts see it
    if (!machine_.is_here()) {
      setting_.place.folders = folder.emplace("replay", fs::current_path()).path();
      (void)machine_.check_nodes(folder->path(), programs());
    }
    announce(plan);
    machine_.leave_the_jobs_cores();
    calibrate::CalibrationResult result;
    {
      calibrate::CalibrateMeasurer measurer{setting_, calibrate::start_executors(machine_)};
      terminal::ProgressLine progress;
      const auto start = std::chrono::steady_clock::now();
      const auto elapsed = [start] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      };
      const calibrate::Watcher watcher{
          [&](const calibrate::Measurement& m, std::size_t index, std::size_t count) {
            progress.show(fmt::format("[{}/{}] {}; {} of at most {}", index + 1, count, to_text(m),
                                      about_text(elapsed()), about_text(limits_.budget_s)));
          },
          [&](const Profile&, const calibrate::Measurement& m) {
            kept_->sign(m);
            kept_->write();
          }};
      result = calibrate::calibrate(kept_->profile(), plan, measurer, limits_, elapsed, watcher);
    }
    if (result.measured > 0) kept_->write();
    tell(result);
    if (result.interrupted) return exit_status_after_stop();
    return result.failed > 0 || (result.measured == 0 && result.kept == 0 && result.unsettled.empty()) ? 1 : 0;
  }

 private:
  [[nodiscard]] std::vector<std::string> programs() const {
    std::vector<std::string> paths;
    for (const std::string& name : setting_.benchmarks) paths.push_back(benchmark(name)->string());
    if (const auto phases = benchmark("phases")) paths.push_back(phases->string());
    return paths;
  }

  void measure_in_turns() {
    const std::size_t dropped = kept_->measure_in_turns(seconds(given_.run.node.turn));
    if (dropped > 0)
      fmt::print(stderr, "replay: {}: {} not measured in turns of {}: dropped\n", kept_->path().string(),
                 counted(dropped, "pair was", "pairs were"), with_unit(given_.run.node.turn));
  }

  void announce(const std::vector<calibrate::Measurement>& plan) const {
    std::vector<calibrate::Measurement> open;
    for (const calibrate::Measurement& m : plan)
      if (!is_settled_in(kept_->profile(), m, limits_.spread)) open.push_back(m);
    for (const std::string& note : machine_.notes()) fmt::print(stderr, "note: {}\n", note);
    if (!machine_.is_here()) fmt::print(stderr, "note: what other programs use of the hosts is not watched\n");
    if (!setting_.has_vmlib) fmt::print(stderr, "note: without vmlib nothing that shares cores is measured\n");
    const double expected = expected_seconds(open, kept_->profile());
    fmt::print(stderr, "{}: {} measurements to make, {} are there; about {}, at most {}\n", machine_.description(),
               open.size(), plan.size() - open.size(), about_text(std::min(expected, limits_.budget_s)),
               about_text(limits_.budget_s));
    fmt::print(stderr, "figures are kept in {} as they come; stopped, the same command goes on from there\n",
               kept_->path().string());
  }

  void tell(const calibrate::CalibrationResult& result) const {
    if (given_.json)
      print_json(to_json(kept_->profile()));
    else
      fmt::print("{}", calibrate::profile_text(kept_->profile(), limits_.spread));
    std::FILE* const out = given_.json ? stderr : stdout;
    const std::string rest = calibrate::result_text(result, limits_.spread);
    if (!rest.empty()) fmt::print(out, "\n{}", rest);
    if (result.measured == 0 && result.kept > 0 && !result.interrupted)
      fmt::print(out, "\nall that was asked for is there already; --fresh measures it anew\n");
    if (result.measured > 0)
      fmt::print(out, "\n{} measured, {} kept: {}\n", result.measured, result.kept, kept_->path().string());
  }

  const CalibrateGiven& given_;
  experiment::RealMachine machine_;
  calibrate::Limits limits_;
  calibrate::CalibrateSetting setting_;
  calibrate::Selection selection_;
  std::optional<calibrate::KeptProfile> kept_;
};

}  // namespace

Command add_calibrate(CLI::App& app) {
  auto* command = app.add_subcommand(
      "calibrate", "measure the benchmarks on this machine: a profile for --runtime-model calibrated");
  command->footer(
      "The profile is added to after every figure: Ctrl-C keeps what there is, and the same command goes on.\n"
      "Examples: replay calibrate\n"
      "          replay calibrate --benchmarks ep,cg --classes S,W --processes 1,2 --budget 3min -o mine.json");
  auto given = std::make_shared<CalibrateGiven>();
  add_options_of_run(*command, given->run, {"--machine"});
  add_node_options(*command, given->run);
  add_host_options(*command, given->run);
  command->get_option("--machine")
      ->description(
          "whose cores: local, local:CORES by OS index, hosts:FILE, slurm, pbs, agent:HOST:PORT; on "
          "emulated:NODESxPACKAGESxCORES only launch, end, resizes and messages are measured (default local)");
  command->add_option("--benchmarks", given->benchmarks, "some of ep,cg,is,mg,ft,lu (default: all that are installed)")
      ->type_name("LIST");
  command->add_option("--classes", given->classes, "problem sizes, some of S,W,A,B (default S,W,A)")->type_name("LIST");
  command
      ->add_option("--processes", given->processes, "such as 1,2,4 (default: every size up to 16, then powers of two)")
      ->type_name("LIST");
  constexpr DurationRange kBudget{.least = Duration{1}, .expected = "a duration such as 90s or 15min"};
  add_duration(*command, "--budget", given->budget, kBudget,
               "nothing is begun that would not end within it (default 15min)")
      ->type_name("T");
  command->add_option("--spread", given->spread, "repeat until a figure's readings lie within so many per cent")
      ->type_name("PERCENT")
      ->capture_default_str();
  auto* quick = command->add_flag("--quick", given->quick, "class S only, in two minutes");
  command->add_flag("--full", given->full, "class B too, up to four hours; says how long")->excludes(quick);
  command->add_flag("--fresh", given->fresh, "measure all anew, and replace the profile");
  command->add_option("-o", given->out, "the profile (default: replay/profile.json in the user's data folder)")
      ->type_name("FILE");
  command->add_flag("--json", given->json, "print the profile as JSON");
  return [given] { return CalibrateCommand{*given}.run(); };
}

}  // namespace replay::cli
