// `replay --trace FILE --policy LIST`: runs the trace with real programs, on this machine's cores or emulated ones.
// Estimates the duration, starts the node agent, lets the live engine run each policy in turn, writes the results.

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/live_page_address.hpp"
#include "scheduler/cli/live_view.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/cli/report.hpp"
#include "scheduler/experiment/calibrated_scenario.hpp"
#include "scheduler/experiment/consent.hpp"
#include "scheduler/experiment/disturbance.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/experiment/scenario.hpp"
#include "scheduler/experiment/simulation.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/report/live/live_page.hpp"
#include "scheduler/results/output_names.hpp"
#include "scheduler/results/recorder.hpp"
#include "scheduler/results/run_folder.hpp"
#include "scheduler/runtime_model/neighbours_part.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kMegabytesPerProcess = 16;  // resident, of a rank of `phases` (measured)
constexpr double kStartUpBase = 0.1;         // seconds: measured, 1 rank 0.1 s, 32 ranks 1.2 s
constexpr double kStartUpPerProcess = 0.035;

struct RunOptions {
  experiment::CommonOptions common;
  experiment::RealMachineOptions machine;
  double time_scale = 1;
  std::string pairing = "block";
  std::string program;
  bool programs_from_trace = false;
  bool yes = false;
  bool dry_run = false;
  bool plain = false;
  std::optional<std::uint16_t> live_page;  // its port, 0: any
};

// A sink that keeps only the instant of the last record.
class LastInstant final : public log::Sink {
 public:
  void header(const log::Header&) override {}
  void record(const log::Record& record) override { last = record.at; }
  Instant last{};
};

// Duration of the run by the simulator, in real seconds for all policies.
double foresee(const experiment::Scenario& scenario, const Machine& machine, double time_scale) {
  double sum = 0;
  const auto model = scenario.model();
  for (const std::string& policy : scenario.policies) {
    const NamedPolicy named = make_policy(policy);
    LastInstant log;
    results::Recorder recorder{{}, experiment::figures_only(machine, named.full_text, scenario.runtime_model)};
    recorder.also(log);
    experiment::Simulation simulation{machine, scenario.workload(), *model};
    simulation.options.overrun = scenario.overrun;
    simulation.options.until = scenario.until;
    const results::PolicyRun run = experiment::simulate(simulation, *named.policy, recorder);
    if (!run.fault.empty()) throw PolicyError(run.fault);
    sum += seconds(log.last - scenario.workload().jobs.front().job.submitted) * time_scale;
  }
  return sum;
}

std::string duration_text(double s) {
  if (s < 90) return fmt::format("{:.0f} s", s);
  if (s < 5400) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

void announce(std::FILE* out, const experiment::Scenario& scenario, const experiment::RealMachine& machine,
              double real_seconds) {
  const auto& jobs = scenario.workload().jobs;
  int ranks = 0;  // of the widest job
  std::int64_t all_ranks = 0;
  for (const TracedJob& traced : jobs) {
    ranks = std::max(ranks, traced.job.processes);
    all_ranks += traced.job.processes;
  }
  const auto most_at_once =
      static_cast<double>(std::min<std::int64_t>(all_ranks, std::int64_t{2} * machine.machine().size()));
  fmt::print(out, "{} jobs on {}, policies: {}\n", jobs.size(), machine.description(),
             fmt::join(scenario.policies, ", "));
  fmt::print(
      out, "it will take about {}; widest job {} processes, start-up up to about {:.1f} s, about {:.0f} MB of memory\n",
      duration_text(real_seconds), ranks, kStartUpBase + kStartUpPerProcess * ranks,
      kMegabytesPerProcess * most_at_once);
  for (const std::string& note : scenario.notes) fmt::print(out, "note: {}\n", clean_lines(note));
}

void print_commands(const experiment::Scenario& scenario, const experiment::Programs& programs) {
  for (const TracedJob& traced : scenario.workload().jobs)
    fmt::print("job {}: at {} s, mpiexec -n {} {}\n", static_cast<std::int64_t>(traced.job.id),
               to_text(traced.job.submitted), traced.job.processes,
               visible_text(fmt::format("{}", fmt::join(programs.command(traced), " "))));
}

// Checks that there is room for a job's command, environment and output, a block each. Without it this job and all
// later ones would fail at once.
void expect_room_in(const fs::path& folder) {
  constexpr std::size_t kRoom = 16384;
  try {
    WholeFile(folder / "room").write(std::string(kRoom, '\0'));  // not finished, so no file stays
  } catch (const InputError& error) {
    throw live::CannotStartJobs(error.what());
  }
}

// Runs one policy for real.
class LiveRun {
 public:
  LiveRun(const RunOptions& options, const experiment::Scenario& scenario, const experiment::RealMachine& machine,
          const experiment::Programs& programs, report::LivePage* page)
      : options_(options), scenario_(scenario), machine_(machine), programs_(programs), page_(page) {}

  results::PolicyRun run(const std::string& policy, const fs::path& folder, const std::string& command_line,
                         std::FILE* out) {
    NamedPolicy named = make_policy(policy);
    const auto model = scenario_.model();
    // Before anything else: the agent is forked while this process has one thread and no event loop.
    auto executor = machine_.start();

    fs::create_directories(folder / "jobs");
    results::RunDescription description = experiment::describe_run(scenario_, options_.common, named);
    description.command_line = command_line;
    description.body = "live";
    description.machine = machine_.text();
    description.time_scale = options_.time_scale;
    description.settings = machine_.settings();
    description.settings.emplace_back("pairing", options_.pairing);
    results::Recorder recorder{folder, std::move(description)};
    const double before = machine_.is_here() ? experiment::load_of_others().value_or(-1) : -1;
    LiveViewOptions viewing;
    if (page_ != nullptr) viewing.address = "live page: " + page_->url();
    viewing.quit = [] { static_cast<void>(::raise(SIGINT)); };  // as Ctrl-C does
    LiveView view{out, options_.plain ? LiveView::Mode::kPlain : LiveView::Mode::kAuto,
                  scenario_.workload().jobs.size(), std::move(viewing)};
    recorder.also(view);
    if (page_ != nullptr) {
      page_->begin_run(folder / "events.log");
      recorder.also(*page_);
    }
    recorder.begin();

    const std::string part = machine_.is_emulated() ? neighbours_part(scenario_.runtime_model) : "";
    const auto neighbours =
        part.empty() ? nullptr
                     : make_runtime_model(part, {.profile = scenario_.profile.get(), .pairs = scenario_.pairs.get()});
    live::RunOptions engine;
    engine.neighbours = neighbours.get();
    engine.time_scale = options_.time_scale;
    engine.overrun = scenario_.overrun;
    engine.until = scenario_.until;
    engine.pairing = options_.pairing == "block" ? Pairing::kBlock : Pairing::kCyclic;
    engine.order = [&](const TracedJob& traced, ProcessCount processes) { return order(traced, processes, folder); };
    engine.tick = [&](Instant now) {
      recorder.flush();
      view.draw(now);
      if (page_ != nullptr) page_->tick(now);
    };
    live::RunResult result =
        live::run(machine_.machine(), scenario_.workload(), *named.policy, *model, *executor, recorder.sink(), engine);
    executor.reset();  // ends the jobs that still run; then no process of ours uses the cores
    const double after = machine_.is_here() ? experiment::load_of_others().value_or(-1) : -1;

    results::PolicyRun done = recorder.finish();
    done.interrupted = result.interrupted;
    done.lost = result.lost;
    done.broken_off = result.broken_off;
    done.fault = std::move(result.fault);
    done.disturbed = std::max(before, after) >= experiment::kDisturbed;
    done.load_before = before;
    done.load_after = after;
    recorder.write(done);
    if (page_ != nullptr) page_->end_run();
    view.finish();  // after the files: it may wait for its reader
    return done;
  }

 private:
  live::LaunchOrder order(const TracedJob& traced, ProcessCount processes, const fs::path& folder) const {
    live::LaunchOrder order;
    order.command = programs_.command(traced, processes);
    order.directory = folder / "jobs" / fmt::format("{}", static_cast<std::int64_t>(traced.job.id));
    std::error_code error;
    fs::create_directories(order.directory, error);
    if (error)
      throw live::CannotStartJobs(fmt::format("{}: cannot be made: {}", order.directory.string(), error.message()));
    expect_room_in(order.directory);
    return order;
  }

  const RunOptions& options_;
  const experiment::Scenario& scenario_;
  const experiment::RealMachine& machine_;
  const experiment::Programs& programs_;
  report::LivePage* page_;  // null: none
};

// Makes the page that follows the runs if there is to be one.
std::unique_ptr<report::LivePage> open_live_page(const RunOptions& options) {
  if (!options.live_page) return nullptr;
  const std::string& trace = options.common.trace;
  const std::string name = trace == "-" ? "standard input" : fs::path{trace}.filename().string();
  return std::make_unique<report::LivePage>(*options.live_page, "live: " + name);
}

// What the page says when it follows no run any more.
std::string last_words(const std::vector<results::PolicyRun>& runs, const fs::path& folder) {
  const results::PolicyRun& last = runs.back();
  std::string end = "the run is over";
  if (!last.lost.empty() || !last.fault.empty())
    end = "the run ended early: " + (last.lost.empty() ? last.fault : last.lost);
  else if (last.interrupted)
    end = "the run was interrupted";
  return fmt::format("{}; `replay report {}` makes a page of it that stays", end, folder.string());
}

experiment::JobsCores cores_of(const experiment::RealMachine& machine) {
  using enum experiment::JobsCores::Kind;
  const auto kind = machine.is_here() ? (machine.is_emulated() ? kVirtual : kHere) : kElsewhere;
  return {kind, machine.machine().size()};
}

int run(const RunOptions& options, const std::string& command_line) {
  std::FILE* out = options.common.json ? stderr : stdout;
  experiment::expect_time_scale(options.time_scale);
  experiment::RealMachine machine{options.common.machine, options.machine};
  const CoreCount cores = machine.machine().size();
  experiment::Scenario scenario = experiment::load_scenario(options.common, "isolated", cores);
  experiment::fit_to_machine(scenario, options.common, cores, true);
  experiment::use_profile(scenario, options.common, cores_of(machine),
                          {.everywhere = options.program, .time_scale = options.time_scale, .is_real = true});
  if (machine.is_here() && !machine.is_emulated())
    if (auto note = experiment::note_on_turns(scenario, machine.node().turn))
      scenario.notes.push_back(std::move(*note));
  experiment::find_average_waits(scenario, machine.machine());
  const experiment::Programs programs{options.program, scenario.loaded.programs, options.time_scale,
                                      options.common.seed};
  for (const TracedJob& traced : scenario.workload().jobs)
    (void)programs.command(traced);  // throws before the start if a program is missing
  if (options.time_scale != 1 && programs.has_fixed_durations(scenario.workload()))
    scenario.notes.push_back("some jobs run programs whose run time does not follow --time-scale");
  const experiment::Request request =
      experiment::request_for_programs(options.common.trace, programs.named_by_trace(scenario.workload()));
  if (options.dry_run) {
    experiment::show(request, out);
    print_commands(scenario, programs);
    return 0;
  }
  experiment::expect_consent(request, options.programs_from_trace, out);
  machine.expect_runs(scenario.policies.size());
  machine.find_programs();
  scenario.notes.insert(scenario.notes.begin(), machine.notes().begin(), machine.notes().end());
  if (const auto note = launcher::threads_note(); note && !machine.is_emulated()) scenario.notes.push_back(*note);

  const double real_seconds = foresee(scenario, machine.machine(), options.time_scale);
  announce(out, scenario, machine, real_seconds);
  if (real_seconds > kLongRun && !options.yes)
    throw UsageError(fmt::format("this run takes about {}: say --yes to start it, or a smaller --time-scale",
                                 duration_text(real_seconds)));

  const std::unique_ptr<report::LivePage> page = open_live_page(options);
  machine.leave_the_jobs_cores();
  const HeedStops heeding;  // until the results are in place
  const fs::path folder = results::make_run_folder(options.common.out, scenario.policies, options.common.force);
  std::optional<LivePageAddress> address;
  if (page) address.emplace(out, page->url(), folder / results::kLivePageFile);
  LiveRun live{options, scenario, machine, programs, page.get()};
  std::vector<results::PolicyRun> runs;
  for (std::size_t i = 0; i < scenario.policies.size(); ++i) {
    const fs::path where = scenario.policies.size() == 1 ? folder : folder / scenario.folders[i];
    try {
      runs.push_back(live.run(scenario.policies[i], where, command_line, out));
    } catch (const InputError& error) {  // the results cannot be written
      if (runs.empty()) throw;
      (void)report(runs, context_of(scenario, options.common), folder,
                   options.common.json);  // of the policies before it
      throw;
    }
    if (stops_asked() > 0 || !runs.back().lost.empty()) break;
  }
  if (page) page->finish(last_words(runs, folder));
  return report(runs, context_of(scenario, options.common), folder, options.common.json);
}

}  // namespace

void prepare_runtime() { experiment::use_hwloc(); }

Command add_run(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<RunOptions>();
  add_common_options(app, options->common);
  add_real_machine_options(app, options->machine);
  app.get_option("--runtime-model")
      ->description("how fast a shrunk job is expected to run (`replay models` lists them; default isolated)");
  app.add_option("--agent-key", options->machine.agent_key, "key file of a remote agent")->type_name("FILE");
  app.add_option("--time-scale", options->time_scale, "real seconds per second of the trace")->capture_default_str();
  app.add_option("--pairing", options->pairing,
                 "which ranks of a shrunk job share a core: block (neighbours) or cyclic")
      ->check(CLI::IsMember({"block", "cyclic"}))
      ->capture_default_str();
  app.add_option("--program", options->program,
                 "run this MPI program for every job; {n} {id} {runtime} {cpu_use} {seed} are filled in")
      ->type_name("CMD");
  app.add_flag("--programs-from-trace", options->programs_from_trace,
               "run what the trace's Program table names, though it is no benchmark of ours");
  app.add_flag("--yes", options->yes, "start even if it takes longer than an hour");
  app.add_flag("--dry-run", options->dry_run, "print each job's command and stop");
  add_live_page_option(app, options->live_page);
  app.add_flag("--plain", options->plain, "plain lines instead of the live view, on a terminal too");
  return [options, command_line] { return run(*options, command_line); };
}

}  // namespace replay::cli
