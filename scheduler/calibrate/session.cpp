#include "scheduler/calibrate/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/runtime_model/machine_facts.hpp"
#include "scheduler/runtime_model/profile_file.hpp"

namespace replay::calibrate {
namespace fs = std::filesystem;
namespace {

constexpr double kQuickBudget = 120;
constexpr double kUsualBudget = 15 * 60;
constexpr double kFullBudget = 4 * 3600;
constexpr int kQuickReadings = 5;
constexpr int kUsualReadings = 9;

// Benchmarks that take --class and --repeat and print the report of docs/benchmarks.md.
constexpr std::string_view kKernels[] = {"ep", "cg", "is", "mg", "ft", "lu"};
constexpr std::string_view kClassNames[] = {"S", "W", "A", "B"};

// The items of a list such as "cg,ep", in the order of `known`, of which each must be one.
std::vector<std::string> chosen_of(std::string_view option, const std::string& list,
                                   std::span<const std::string_view> known) {
  const std::vector<std::string_view> given = split(list, ',');
  for (const std::string_view item : given)
    if (std::ranges::find(known, item) == known.end())
      throw UsageError(fmt::format("{}: expected some of {}, found '{}'", option, fmt::join(known, ","), item));
  std::vector<std::string> items;
  for (const std::string_view name : known)
    if (std::ranges::find(given, name) != given.end()) items.emplace_back(name);
  return items;
}

std::vector<std::string> classes_of(const SessionOptions& options) {
  if (!options.classes.empty()) return chosen_of("--classes", options.classes, kClassNames);
  if (options.quick) return {"S"};
  if (options.full) return {"S", "W", "A", "B"};
  return {"S", "W", "A"};
}

std::vector<ProcessCount> processes_of(const SessionOptions& options, CoreCount cores) {
  if (options.processes.empty()) return usual_sizes(cores);
  std::vector<ProcessCount> sizes;
  for (const std::string_view item : split(options.processes, ',')) {
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
double budget_of(const SessionOptions& options, const std::optional<live::MachineEnd>& end) {
  const double usual = options.quick ? kQuickBudget : options.full ? kFullBudget : kUsualBudget;
  const double budget = options.budget > Duration::zero() ? seconds(options.budget) : usual;
  if (!end) return budget;
  const std::chrono::duration<double> left = end->at - live::kBeforeMachineEnd - std::chrono::steady_clock::now();
  return std::min(budget, left.count());
}

fs::path place_of(const SessionOptions& options, const experiment::RealMachine& machine) {
  if (!options.out.empty()) return options.out;
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

}  // namespace

Session::Session(const SessionOptions& options)
    : machine_(options.run), setting_{.machine = measured_machine(machine_)} {
  limits_ = {.spread = options.spread / 100,
             .most_readings = options.quick ? kQuickReadings : kUsualReadings,
             .budget_s = budget_of(options, machine_.end())};
  machine_.find_programs();
  choose(options);
  plan_ = plan_of(selection_);
  kept_.emplace(place_of(options, machine_), facts_of(machine_), options.fresh);
  const std::string file = kept_->path().string();
  if (!kept_->rebuilt().empty())
    remarks_.push_back(fmt::format("{}: {} built anew since: their figures there are dropped", file,
                                   fmt::join(kept_->rebuilt(), ", ")));
  kept_->profile().spread_bound = limits_.spread;
  kept_->expect_writable();
  if (std::ranges::find(plan_, Kind::kPair, &Measurement::kind) == plan_.end()) return;
  const Duration turn = options.run.node.turn;
  if (const std::size_t dropped = kept_->measure_in_turns(seconds(turn)); dropped > 0)
    remarks_.push_back(fmt::format("{}: {} not measured in turns of {}: dropped", file,
                                   counted(dropped, "pair was", "pairs were"), with_unit(turn)));
}

void Session::choose(const SessionOptions& options) {
  const CoreCount cores = machine_.machine().size();
  setting_.has_vmlib = !machine_.is_here() || !machine_.node().vmlib.empty();
  setting_.place.measures_load = machine_.is_here();
  if (!machine_.is_here()) setting_.place.working_directory = fs::current_path();
  selection_ = {.cores = cores, .emulated = machine_.is_emulated()};
  selection_.node_cores = cores_by_node(setting_.machine);
  selection_.message =
      machine_.is_here() || (machine_.is_emulated() && selection_.node_cores.front() >= kEmulatedCores);
  selection_.package_cores.clear();
  for (const auto& package : packages_of(setting_.machine))
    selection_.package_cores.push_back(static_cast<CoreCount>(package.size()));
  selection_.processes = processes_of(options, cores);
  if (!machine_.is_emulated()) {
    selection_.benchmarks = benchmarks_of(options);
    selection_.classes = classes_of(options);
    setting_.benchmarks = selection_.benchmarks;
    return;
  }
  for (const auto& [option, text] : {std::pair{"--benchmarks", &options.benchmarks}, {"--classes", &options.classes}})
    if (!text->empty())
      throw UsageError(fmt::format(
          "{} {}: on emulated cores no benchmark is measured, only launch, end, resizes and messages", option, *text));
}

// Those that are installed. Missing ones that the user named are an error.
std::vector<std::string> Session::benchmarks_of(const SessionOptions& options) {
  const std::vector<std::string> wanted = options.benchmarks.empty()
                                              ? std::vector<std::string>{std::begin(kKernels), std::end(kKernels)}
                                              : chosen_of("--benchmarks", options.benchmarks, kKernels);
  std::vector<std::string> there, missing;
  for (const std::string& name : wanted) (benchmark(name) ? there : missing).push_back(name);
  const std::string note = fmt::format("not in {}: {}", library_folder().string(), fmt::join(missing, ", "));
  if (there.empty() || (!options.benchmarks.empty() && !missing.empty())) throw InputError(note);
  if (!missing.empty()) remarks_.push_back(note + "; passed over");
  return there;
}

std::vector<Measurement> Session::open() const {
  std::vector<Measurement> open;
  for (const Measurement& m : plan_)
    if (!is_settled_in(kept_->profile(), m, limits_.spread)) open.push_back(m);
  return open;
}

CalibrationResult Session::measure(const Show& show) {
  std::optional<TemporaryFolder> folder;  // of the jobs, where all hosts see it
  if (!machine_.is_here()) {
    setting_.place.folders = folder.emplace("replay", fs::current_path()).path();
    (void)machine_.check_nodes(folder->path(), programs());
  }
  machine_.leave_the_jobs_cores();
  CalibrateMeasurer measurer{setting_, start_executors(machine_)};
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const Watcher watcher{
      [&](const Measurement& m, std::size_t index, std::size_t /*count*/) { show(m, index, elapsed()); },
      [&](const Profile& /*profile*/, const Measurement& m) {
        kept_->sign(m);
        kept_->write();
      }};
  CalibrationResult result = calibrate(kept_->profile(), plan_, measurer, limits_, elapsed, watcher);
  if (result.measured > 0) kept_->write();
  return result;
}

std::vector<std::string> Session::programs() const {
  std::vector<std::string> paths;
  for (const std::string& name : setting_.benchmarks) paths.push_back(benchmark(name)->string());
  if (const auto phases = benchmark("phases")) paths.push_back(phases->string());
  return paths;
}

}  // namespace replay::calibrate
