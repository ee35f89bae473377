// `replay --trace FILE --policy LIST`: the trace for real, on this machine's cores. Says what it will take, starts the node
// agent, lets the live engine run each policy in turn, writes the results.

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launcher/agent.hpp"
#include "launcher/local_executor.hpp"
#include "launcher/topology.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/disturbance.hpp"
#include "scheduler/cli/live_view.hpp"
#include "scheduler/cli/paths.hpp"
#include "scheduler/cli/programs.hpp"
#include "scheduler/cli/recorder.hpp"
#include "scheduler/cli/run_folder.hpp"
#include "scheduler/cli/scenario.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/model/error.hpp"
#include "scheduler/sim/simulator.hpp"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr double kLongRun = 3600;            // real seconds: from here on --yes is wanted
constexpr double kMegabytesPerProcess = 16;  // resident, of a rank of `phases` (measured)
constexpr double kStartUpBase = 0.1;         // seconds: measured, 1 rank 0.1 s, 32 ranks 1.2 s
constexpr double kStartUpPerProcess = 0.035;

struct RunOptions {
  CommonOptions common;
  double time_scale = 1;
  std::string program;
  bool smt = false;
  bool yes = false;
  bool dry_run = false;
  bool plain = false;
};

// Ends nowhere: for a simulation whose end is all that is wanted.
class LastInstant final : public log::Sink {
 public:
  void header(const log::Header&) override {}
  void record(const log::Record& record) override { last = record.at; }
  Instant last{};
};

// What the run will take by the simulator, in real seconds for all policies.
double foresee(const Scenario& scenario, const Machine& machine, double time_scale) {
  double sum = 0;
  const auto model = make_runtime_model(scenario.runtime_model);
  for (const std::string& policy : scenario.policies) {
    const NamedPolicy named = make_policy(policy);
    LastInstant sink;
    SimulationOptions options;
    options.overrun = scenario.overrun;
    options.until = scenario.until;
    simulate(machine, scenario.workload(), *named.policy, *model, sink, options);
    sum += seconds(sink.last - scenario.workload().jobs.front().job.submitted) * time_scale;
  }
  return sum;
}

std::string duration_text(double s) {
  if (s < 90) return fmt::format("{:.0f} s", s);
  if (s < 5400) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

void announce(std::FILE* out, const Scenario& scenario, const launcher::LocalMachine& local, double real_seconds) {
  const auto& jobs = scenario.workload().jobs;
  const auto widest = std::ranges::max_element(jobs, {}, [](const TracedJob& t) { return t.job.processes; });
  const int ranks = widest->job.processes;
  fmt::print(out, "{} jobs on {} cores (OS {}), policies: {}\n", jobs.size(), local.machine.size(),
             fmt::join(local.pu_of_core, ","), fmt::join(scenario.policies, ", "));
  fmt::print(
      out, "it will take about {}; widest job {} processes, start-up up to about {:.1f} s, about {:.0f} MB of memory\n",
      duration_text(real_seconds), ranks, kStartUpBase + kStartUpPerProcess * ranks,
      kMegabytesPerProcess * 2 * local.machine.size());
  for (const std::string& note : local.notes) fmt::print(out, "note: {}\n", note);
  for (const std::string& note : scenario.notes) fmt::print(out, "note: {}\n", note);
}

// Where there is a core to spare, nothing of the daemon (and of the agent, which inherits this) runs on a job's cores.
void leave_the_jobs_cores(const launcher::LocalMachine& local) {
  cpu_set_t spare;
  CPU_ZERO(&spare);
  for (const int cpu : launcher::affinity_mask())
    if (std::ranges::find(local.pu_of_core, cpu) == local.pu_of_core.end())
      CPU_SET(static_cast<std::size_t>(cpu), &spare);
  if (CPU_COUNT(&spare) > 0) ::sched_setaffinity(0, sizeof spare, &spare);  // a wish: without it the run is right, too
}

void print_commands(const Scenario& scenario, const Programs& programs) {
  for (const TracedJob& traced : scenario.workload().jobs)
    fmt::print("job {}: at {} s, mpiexec -n {} {}\n", static_cast<std::int64_t>(traced.job.id),
               to_text(traced.job.submitted), traced.job.processes, fmt::join(programs.command(traced), " "));
}

// One policy for real.
class LiveRun {
 public:
  LiveRun(const RunOptions& options, const Scenario& scenario, const launcher::LocalMachine& local,
          const Programs& programs, const fs::path& mpiexec)
      : options_(options), scenario_(scenario), local_(local), programs_(programs), mpiexec_(mpiexec) {}

  PolicyRun run(const std::string& policy, const fs::path& folder, const std::string& command_line, std::FILE* out) {
    NamedPolicy named = make_policy(policy);
    const auto model = make_runtime_model(scenario_.runtime_model);
    // Before anything else: the agent is forked while this process has one thread and no event loop.
    launcher::AgentHandle agent = launcher::start_agent({mpiexec_, vm_library().value_or(fs::path{}), fs::path{}});
    auto executor = launcher::make_local_executor(std::move(agent), local_);

    fs::create_directories(folder / "jobs");
    Recorder recorder{folder,          options_.common.outputs, command_line,       "live", named, scenario_,
                      options_.common, local_.machine,          options_.time_scale};
    const auto before = load_of_others();
    LiveView view{out, options_.plain ? LiveView::Mode::kPlain : LiveView::Mode::kAuto,
                  scenario_.workload().jobs.size()};
    recorder.also(view);
    recorder.begin();

    live::RunOptions engine;
    engine.time_scale = options_.time_scale;
    engine.overrun = scenario_.overrun;
    engine.until = scenario_.until;
    engine.order = [&](const TracedJob& traced) { return order(traced, folder); };
    engine.tick = [&](Instant now) {
      recorder.flush();
      view.draw(now);
    };
    const live::RunResult result =
        live::run(local_.machine, scenario_.workload(), *named.policy, *model, *executor, recorder.sink(), engine);
    view.finish();
    executor.reset();  // nothing of ours uses the cores any more
    const auto after = load_of_others();

    PolicyRun done = recorder.finish();
    done.interrupted = result.interrupted;
    done.lost = result.lost;
    done.disturbed = std::max(before.value_or(0), after.value_or(0)) >= kDisturbed;
    done.load_before = before.value_or(-1);
    done.load_after = after.value_or(-1);
    recorder.write(done);
    return done;
  }

 private:
  live::LaunchOrder order(const TracedJob& traced, const fs::path& folder) const {
    live::LaunchOrder order;
    order.command = programs_.command(traced);
    order.directory = folder / "jobs" / fmt::format("{}", static_cast<std::int64_t>(traced.job.id));
    std::error_code error;
    fs::create_directories(order.directory, error);
    if (error) throw InputError(fmt::format("{}: cannot be made: {}", order.directory.string(), error.message()));
    return order;
  }

  const RunOptions& options_;
  const Scenario& scenario_;
  const launcher::LocalMachine& local_;
  const Programs& programs_;
  fs::path mpiexec_;
};

int run(const RunOptions& options, const std::string& command_line) {
  std::FILE* out = options.common.json ? stderr : stdout;
  if (!(options.time_scale > 0) || options.time_scale > 1000)
    throw UsageError(
        fmt::format("--time-scale: expected a number above 0 and up to 1000, found '{}'", options.time_scale));
  const std::string machine_text = options.common.machine.empty() ? "local" : options.common.machine;
  if (machine_text != "local" && !machine_text.starts_with("local:"))
    throw UsageError(fmt::format(
        "--machine {}: a real run takes local or local:CORES such as local:0-3; `replay simulate` takes any machine",
        machine_text));
  const launcher::LocalMachine local = launcher::discover_local(machine_text, options.smt);
  Scenario scenario = load_scenario(options.common, "isolated", local.machine.size());
  fit_to_machine(scenario, options.common, local.machine.size(), true);
  const Programs programs{options.program, scenario.loaded.programs, options.time_scale, options.common.seed};
  for (const TracedJob& traced : scenario.workload().jobs)
    (void)programs.command(traced);  // all there before the start
  if (options.time_scale != 1 && programs.has_fixed_durations(scenario.workload()))
    scenario.notes.push_back("some jobs run programs whose run time does not follow --time-scale");
  if (options.dry_run) {
    print_commands(scenario, programs);
    return 0;
  }
  const auto mpiexec = find_program("mpiexec");
  if (!mpiexec)
    throw InputError(
        "mpiexec is not on the PATH: a real run needs MPICH; on Debian `apt install mpich`, or `./dev build`");
  if (!vm_library())
    scenario.notes.push_back(fmt::format("no libreplay-vm.so in {}: every job is rigid", library_folder().string()));

  const double real_seconds = foresee(scenario, local.machine, options.time_scale);
  announce(out, scenario, local, real_seconds);
  if (real_seconds > kLongRun && !options.yes)
    throw UsageError(fmt::format("this run takes about {}: say --yes to start it, or a smaller --time-scale",
                                 duration_text(real_seconds)));

  leave_the_jobs_cores(local);
  const fs::path folder = make_run_folder(options.common.out, scenario.policies, options.common.force);
  LiveRun live{options, scenario, local, programs, *mpiexec};
  std::vector<PolicyRun> runs;
  for (const std::string& policy : scenario.policies) {
    const fs::path where = scenario.policies.size() == 1 ? folder : folder / folder_name(policy);
    runs.push_back(live.run(policy, where, command_line, out));
    if (runs.back().interrupted || !runs.back().lost.empty()) break;
  }
  return report(runs, scenario, folder, options.common.json);
}

}  // namespace

Command add_run(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<RunOptions>();
  add_common_options(app, options->common);
  app.get_option("--machine")
      ->description("where to run: local, or local:CORES by OS index, such as local:0-3 (default local)");
  app.add_option("--time-scale", options->time_scale, "real seconds per second of the trace")->capture_default_str();
  app.add_option("--program", options->program,
                 "run this MPI program for every job; {n} {id} {runtime} {cpu_use} {seed} are filled in")
      ->type_name("CMD");
  app.add_flag("--smt", options->smt, "count hardware threads as cores");
  app.add_flag("--yes", options->yes, "start even if it takes longer than an hour");
  app.add_flag("--dry-run", options->dry_run, "print each job's command and stop");
  app.add_flag("--plain", options->plain, "plain lines instead of the live view, on a terminal too");
  return [options, command_line] { return run(*options, command_line); };
}

}  // namespace replay::cli
