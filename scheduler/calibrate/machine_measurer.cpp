#include "scheduler/calibrate/machine_measurer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "scheduler/base/file/paths.hpp"
#include "scheduler/calibrate/plan.hpp"
#include "scheduler/calibrate/program/change_plan.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/experiment/programs.hpp"

namespace replay::calibrate {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr int kResizes = 10;                        // of one program
constexpr const char* kLongEnoughToBeSeen = "0.3";  // seconds that a job runs of which launch and end are measured
constexpr int kAttempts = 5;                        // at such a job
constexpr auto kBetweenResizes = 20ms;
constexpr auto kProbeHolds = 5s;        // how long a load probe stays valid, for runs too short for a load figure
constexpr double kMostRepeats = 1e6;    // limit of the benchmarks' --repeat
constexpr double kNeighbourLasts = 30;  // first length of a neighbour, in run times of the measured program
constexpr int kNeighbourTries = 3;

// Thrown when a measurement is impossible on this machine.
struct Refused {
  std::string reason;
  bool failed = false;  // a program crashed or gave a wrong result; it did not reject its arguments itself
};

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const std::size_t cut = text.rfind('\n');
  return std::string{cut == std::string_view::npos ? text : text.substr(cut + 1)};
}

// The line in which a benchmark rejects its arguments (a class, a number of processes); empty if there is none.
std::string own_words(const Kernel& kernel, const FinishedJob& job) {
  const std::string errors = "\n" + job.errors;
  const std::size_t at = errors.find(fmt::format("\n{}:", kernel.name));
  return at == std::string::npos ? "" : errors.substr(at + 1, errors.find('\n', at + 1) - at - 1);
}

Refused failure(const Kernel& kernel, const FinishedJob& job) {
  if (const std::string words = own_words(kernel, job); !words.empty()) return {words};
  if (job.came_and_went())
    return {fmt::format("{} was over before its processes had been seen, {} times", command_of(kernel), kAttempts)};
  const std::string line = last_line(job.errors);
  return {fmt::format("{} {} (exit code {}){}{}", command_of(kernel), to_text(job.end.outcome), job.end.exit_code,
                      job.end.reason.empty() ? "" : ": " + job.end.reason, line.empty() ? "" : ": " + line),
          true};
}

void expect_verified(const Kernel& kernel, const FinishedJob& job) {
  if (!job.is_good() || job.end.verification != Verification::kPassed) throw failure(kernel, job);
}

double seconds_in(const FinishedJob& job) {
  return job.output.find("time_per_repeat_s") != std::string::npos
             ? experiment::benchmark_figure(job.output, "time_per_repeat_s")
             : experiment::benchmark_figure(job.output, "time_s");
}

Words phases(std::initializer_list<std::string> arguments) {
  const auto program = benchmark("phases");
  if (!program)
    throw std::runtime_error(fmt::format(
        "there is no benchmark 'phases' in {}: what launching costs is measured with it", library_folder().string()));
  Words words{program->string()};
  words.insert(words.end(), arguments);
  return words;
}

}  // namespace

Machine measured_machine(const experiment::RealMachine& machine) {
  const bool is_one = machine.is_here() && machine.is_emulated();
  return is_one ? Machine::cluster(1, 1, number(machine.machine().size())) : machine.machine();
}

Executors start_executors(experiment::RealMachine& machine) {
  Executors executors{machine.start(), nullptr};
  if (!machine.is_here() || machine.is_emulated() || machine.node().vmlib.empty()) return executors;
  launcher::AgentOptions emulated = machine.node();
  emulated.cores.clear();
  emulated.emulated_cores = kEmulatedCores;
  emulated.back_end = launcher::BackEnd::kAuto;
  launcher::LocalMachine cores;
  cores.machine = Machine::cluster(1, 1, number(kEmulatedCores));
  cores.pu_of_core = launcher::emulated_pus(kEmulatedCores);
  executors.emulated = launcher::make_local_executor(launcher::start_agent(emulated), std::move(cores));
  return executors;
}

std::vector<Cores> packages_of(const Machine& machine) {
  std::vector<Cores> list(static_cast<std::size_t>(machine.packages_of(NodeId{0})));
  for (const CoreId core : machine.cores_of(NodeId{0})) list[machine.package_of(core)].push_back(core);
  return list;
}

CalibrateMeasurer::CalibrateMeasurer(CalibrateSetting setting, Executors executors)
    : setting_(std::move(setting)), packages_(packages_of(setting_.machine)) {
  jobs_ = std::make_unique<CalibrateJobs>(std::move(executors.machine), setting_.place);
  if (executors.emulated) emulated_ = std::make_unique<CalibrateJobs>(std::move(executors.emulated), setting_.place);
  jobs_->connect();
  if (emulated_) emulated_->connect();
}

Taken CalibrateMeasurer::take(const Measurement& m, std::size_t turn) {
  Taken taken;
  jobs_->watch_load();
  try {
    taken.readings = readings_of(m, turn);
  } catch (const Refused& refused) {
    taken.refused = refused.reason;
    taken.failed = refused.failed;
    return taken;
  }
  taken.disturbed = is_disturbed();
  return taken;
}

// Ranks on emulated cores hardly compute, so other load disturbs them only when the machine is full.
bool CalibrateMeasurer::is_disturbed() {
  if (!jobs_->measures_load()) return false;
  if (const auto load = jobs_->load()) return *load >= experiment::kDisturbed;
  if (const auto now = std::chrono::steady_clock::now(); now - probed_ > kProbeHolds) {
    probed_load_ = experiment::load_of_others().value_or(0);
    probed_ = std::chrono::steady_clock::now();
  }
  return probed_load_ >= experiment::kDisturbed;
}

CalibrateMeasurer::Readings CalibrateMeasurer::readings_of(const Measurement& m, std::size_t turn) {
  if (!setting_.has_vmlib && m.kind != Kind::kOverheads && m.kind != Kind::kRunTime && m.kind != Kind::kSelfSlowdown)
    throw Refused{"without vmlib processes cannot share cores"};
  switch (m.kind) {
    case Kind::kOverheads: return overheads(m);
    case Kind::kResize: return resizes(m);
    case Kind::kMessage: return message();
    case Kind::kRunTime: return run_time(m);
    case Kind::kSharing: return sharing(m, turn);
    case Kind::kSelfSlowdown: return self_slowdown(m.kernel, m.self);
    case Kind::kPair: break;
  }
  return pair(m);
}

// On emulated cores a job deducts launch and end from its work, so a wide job has almost no work left.
CalibrateMeasurer::Readings CalibrateMeasurer::overheads(const Measurement& m) {
  const FinishedJob job = run_seen(phases({"--runtime", kLongEnoughToBeSeen}), place(m.processes, m.nodes));
  if (!job.is_good()) throw failure({"phases", ""}, job);
  return {{job.launch_s, std::max(0.0, job.ran_s - experiment::benchmark_figure(job.output, "time_s"))}};
}

CalibrateMeasurer::Readings CalibrateMeasurer::resizes(const Measurement& m) {
  const Cores expanded = place(m.processes, m.nodes);
  const Cores fewer = shrunk(expanded);
  const JobId id = jobs_->launch(phases({"--runtime", "60", "--pattern", "bsp"}), expanded);
  jobs_->wait_until_started(id);
  Readings readings;
  for (int i = 0; i < kResizes && !jobs_->is_over(id); ++i) {
    jobs_->pause(kBetweenResizes);
    const auto shrink = jobs_->move(id, fewer);
    jobs_->pause(kBetweenResizes);
    const auto expand = jobs_->move(id, expanded);
    if (shrink && expand) readings.push_back({*shrink, *expand});
  }
  jobs_->end(id);
  const FinishedJob job = jobs_->finish(id);
  if (readings.empty()) throw job.rigid_reason.empty() ? failure({"phases", ""}, job) : Refused{job.rigid_reason};
  return readings;
}

// A superstep of two ranks sends two messages one after the other: the exchange with the neighbour, and the sum.
CalibrateMeasurer::Readings CalibrateMeasurer::message() {
  CalibrateJobs& jobs = emulated_ ? *emulated_ : *jobs_;
  const Words words = phases({"--runtime", "1.5", "--pattern", "bsp", "--iteration", "10", "--message-size", "8"});
  const FinishedJob job = jobs.finish(jobs.launch(words, {CoreId{0}, CoreId{1}}));
  if (!job.is_good()) throw failure({"phases", ""}, job);
  const double work =
      experiment::benchmark_figure(job.output, "runtime_s") - experiment::benchmark_figure(job.output, "deducted_s");
  return {{std::max(0.0, (experiment::benchmark_figure(job.output, "time_s") - work) /
                             (2 * experiment::benchmark_figure(job.output, "iterations")))}};
}

CalibrateMeasurer::Readings CalibrateMeasurer::run_time(const Measurement& m) {
  const FinishedJob job = run(m.kernel, 1, place(m.processes, m.nodes));
  return {{job.ran_s, seconds_in(job)}};
}

// A scheduler shrinks a job to start another one on the released cores. So another program, shrunk as well, runs there
// during the measurement: for two memory-bound programs this costs more than the lost cores alone. The neighbour of a
// real run is unknown, so the benchmarks take turns.
CalibrateMeasurer::Readings CalibrateMeasurer::sharing(const Measurement& m, std::size_t turn) {
  const Kernel& kernel = m.kernel;
  const Cores all = place(m.processes, m.nodes);
  const std::uint64_t repeats = repeats_for(kernel, m.processes, kSteady);
  const FinishedJob expanded = run(kernel, repeats, all);
  if (!expanded.malleable) throw Refused{fmt::format("{} is rigid: {}", kernel.name, expanded.rigid_reason)};
  if (expanded.end.cpu_use < 0) throw Refused{"its CPU utilisation is not known: it ended too soon, or vmlib is off"};
  const double cpu_use = std::clamp(expanded.end.cpu_use, 0.0, 1.0);
  if (!m.gives_up_cores()) return {{1, cpu_use}};
  const Cores fewer = shrunk(all);
  Cores others;  // two ranks on each of the cores given up
  for (const CoreId core : all)
    if (std::ranges::find(fewer, core) == fewer.end()) others.insert(others.end(), 2, core);
  const Kernel other = neighbour_of(kernel, static_cast<ProcessCount>(others.size()), turn);
  return {{run_beside(kernel, fewer, {{other, others}}) / expanded.ran_s, cpu_use}};
}

// A benchmark that cannot run with so many processes is replaced by a copy of `kernel`.
Kernel CalibrateMeasurer::neighbour_of(const Kernel& kernel, ProcessCount processes, std::size_t turn) {
  const auto& names = setting_.benchmarks;
  const auto own = std::ranges::find(names, kernel.name);
  if (own == names.end()) return kernel;
  const auto at = (static_cast<std::size_t>(own - names.begin()) + turn) % names.size();
  Kernel other{names[at], kernel.problem_class};
  try {
    (void)seconds_of(other, processes);
  } catch (const Refused&) {
    return kernel;
  }
  return other;
}

CalibrateMeasurer::Readings CalibrateMeasurer::self_slowdown(const Kernel& kernel, SelfCase which) {
  const Cores cores = cores_for(which);
  const double alone = run(kernel, repeats_for(kernel, 1, kSteady), {cores.front()}).ran_s;
  std::vector<std::pair<Kernel, Cores>> others;
  for (std::size_t i = 1; i < cores.size(); ++i) others.push_back({kernel, {cores[i]}});
  return {{run_beside(kernel, {cores.front()}, others) / alone}};
}

CalibrateMeasurer::Readings CalibrateMeasurer::pair(const Measurement& m) {
  const Cores cores = place(m.processes, m.nodes);
  const double alone = run(m.kernel, repeats_for(m.kernel, m.processes, kSteady), cores).ran_s;
  return {{run_beside(m.kernel, cores, {{m.neighbour, cores}}) / alone}};
}

double CalibrateMeasurer::run_beside(const Kernel& first, const Cores& cores,
                                     const std::vector<std::pair<Kernel, Cores>>& others) {
  const auto processes = static_cast<ProcessCount>(cores.size());
  const std::uint64_t repeats = repeats_for(first, processes, kSteady);
  const double lasts = seconds_of(first, processes) * static_cast<double>(repeats);
  double factor = kNeighbourLasts;
  for (int attempt = 0; attempt < kNeighbourTries; ++attempt, factor *= 4) {
    std::vector<JobId> beside;
    for (const auto& [kernel, where] : others) {
      const std::uint64_t enough = repeats_for(kernel, static_cast<ProcessCount>(where.size()), factor * lasts);
      beside.push_back(jobs_->launch(command(kernel, enough), where));
    }
    for (const JobId id : beside) jobs_->wait_until_started(id);
    const FinishedJob job = run_seen(command(first, repeats), cores);
    const bool were_there = std::ranges::none_of(beside, [this](JobId id) { return jobs_->is_over(id); });
    for (const JobId id : beside) {
      jobs_->end(id);
      (void)jobs_->finish(id);
    }
    expect_verified(first, job);
    if (were_there) return job.ran_s;
  }
  throw Refused{"the neighbours end too soon"};
}

Cores CalibrateMeasurer::place(ProcessCount processes, int nodes) const {
  if (cores_at(processes, 1) > setting_.machine.size())
    return place_on_nodes(number(processes), setting_.machine, Pairing::kBlock);
  return spread_on_nodes(number(processes), nodes, setting_.machine);
}

Cores CalibrateMeasurer::place(ProcessCount processes) const {
  return place(processes, nodes_for(cores_at(processes, 1), cores_by_node(setting_.machine)).front());
}

Cores CalibrateMeasurer::shrunk(const Cores& expanded) const {
  const int half = (static_cast<int>(expanded.size()) + 1) / 2;
  return shrink_on_nodes(expanded, std::max(half, nodes_of(expanded, setting_.machine)), setting_.machine,
                         Pairing::kBlock);
}

Cores CalibrateMeasurer::cores_for(SelfCase which) const {
  const auto count = static_cast<std::size_t>(copies_of(which));
  if (which == SelfCase::kTwoSamePackage || which == SelfCase::kFourSamePackage) {
    const auto wide = std::ranges::find_if(packages_, [&](const auto& p) { return p.size() >= count; });
    if (wide == packages_.end()) throw Refused{"no package has so many cores"};
    return {wide->begin(), wide->begin() + static_cast<std::ptrdiff_t>(count)};
  }
  Cores cores;
  const auto all = static_cast<std::size_t>(setting_.machine.size());
  for (std::size_t turn = 0; cores.size() < count && turn < all; ++turn)
    for (const auto& package : packages_)
      if (turn < package.size() && cores.size() < count) cores.push_back(package[turn]);
  return cores;
}

Words CalibrateMeasurer::command(const Kernel& kernel, std::uint64_t repeats) {
  const auto program = benchmark(kernel.name);
  if (!program) throw Refused{fmt::format("there is no program '{}' in {}", kernel.name, library_folder().string())};
  Words words{program->string()};
  if (!kernel.problem_class.empty()) words.insert(words.end(), {"--class", kernel.problem_class});
  if (repeats > 1) words.insert(words.end(), {"--repeat", fmt::format("{}", repeats)});
  return words;
}

// A very short job may end before the agent has seen all its ranks together; its start is then unknown.
FinishedJob CalibrateMeasurer::run_seen(const Words& words, const Cores& cores) {
  FinishedJob job = jobs_->finish(jobs_->launch(words, cores));
  for (int i = 1; i < kAttempts && job.came_and_went(); ++i) job = jobs_->finish(jobs_->launch(words, cores));
  return job;
}

FinishedJob CalibrateMeasurer::run(const Kernel& kernel, std::uint64_t repeats, const Cores& cores) {
  FinishedJob job = run_seen(command(kernel, repeats), cores);
  expect_verified(kernel, job);
  // Only a run with a core for each rank counts as the program's run time.
  Cores different{cores};
  std::ranges::sort(different);
  if (std::ranges::adjacent_find(different) == different.end())
    seconds_[{command_of(kernel), static_cast<ProcessCount>(cores.size())}] = seconds_in(job);
  return job;
}

double CalibrateMeasurer::seconds_of(const Kernel& kernel, ProcessCount processes) {
  const std::pair key{command_of(kernel), processes};
  if (!seconds_.contains(key)) (void)run(kernel, 1, place(processes));
  return seconds_.at(key);
}

std::uint64_t CalibrateMeasurer::repeats_for(const Kernel& kernel, ProcessCount processes, double seconds) {
  const double one = std::max(1e-9, seconds_of(kernel, processes));
  return static_cast<std::uint64_t>(std::clamp(std::ceil(seconds / one), 1.0, kMostRepeats));
}

}  // namespace replay::calibrate
