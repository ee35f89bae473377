// `replay run PROGRAM ARGS...`: runs one MPI program under vmlib, shrinks and expands it meanwhile, and reports the
// effect on its speed. The program's output is copied to ours byte by byte, and its exit status is ours; our own
// messages go to stderr, or into a file.

#include <fmt/core.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "launcher/agent/agent.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/cli/commands.hpp"
#include "scheduler/cli/options.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/program/change_plan.hpp"
#include "scheduler/program/output.hpp"
#include "scheduler/program/report.hpp"
#include "scheduler/program/run.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::cli {
namespace fs = std::filesystem;
namespace {

constexpr JobId kJob{1};
constexpr int kCannotStart = 127;  // as a shell reports it
constexpr int kNobodyReads = 128 + SIGPIPE;

struct RunProgramOptions {
  int ranks = 2;
  bool with_vmlib = true;
  std::string cores;
  bool smt = false;
  program::ChangeTexts changes;
  int shrink_to = 0;
  std::string pairing = "block";
  std::string back_end = "auto";
  std::string job_network = "own";
  std::vector<std::string> environment;
  std::string report;
  bool json = false;
};

/// The cores of the expanded job: those asked for, or the machine's, at most one per rank.
std::vector<int> choose_cores(const RunProgramOptions& options) {
  const std::string spec = options.cores.empty() ? "local" : "local:" + options.cores;
  std::vector<int> cores = launcher::discover_local(spec, options.smt).pu_of_core;
  cores.resize(std::min(cores.size(), static_cast<std::size_t>(options.ranks)));
  return cores;
}

/// Those of `cores` that the shrunk job keeps. Empty: there are no shrinks.
std::vector<int> choose_shrunk_cores(const RunProgramOptions& options, const program::ChangePlan& plan,
                                     std::vector<int> cores) {
  if (!plan.has_resizes() && options.shrink_to == 0) return {};
  const int all = static_cast<int>(cores.size());
  if (all == 1) throw UsageError("there is nothing to shrink: the program has one core only; see --cores");
  if (options.shrink_to >= all)
    throw UsageError(
        fmt::format("--to: expected 1 to {}, fewer than the program has, found '{}'", all - 1, options.shrink_to));
  cores.resize(static_cast<std::size_t>(options.shrink_to == 0 ? (all + 1) / 2 : options.shrink_to));
  return cores;
}

std::vector<std::pair<std::string, std::string>> read_environment(const std::vector<std::string>& assignments) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const std::string& text : assignments) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("--env: expected NAME=VALUE, found '{}'", text));
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

/// Whether the ranks get REPLAY_VM_OFF, from `variables` or from our own environment.
bool is_switched_off(const std::vector<std::pair<std::string, std::string>>& variables) {
  const char* everywhere = std::getenv(REPLAY_VM_ENV_OFF);
  std::string value = everywhere != nullptr ? everywhere : "0";
  for (const auto& [name, text] : variables)
    if (name == REPLAY_VM_ENV_OFF) value = text;
  return value != "0";
}

/// Keeps this process and the agent, which inherits the mask, off the program's cores if there is a core to spare.
void leave_cores(const std::vector<int>& cores) {
  cpu_set_t spare;
  CPU_ZERO(&spare);
  for (const int cpu : launcher::affinity_mask())
    if (std::ranges::find(cores, cpu) == cores.end()) CPU_SET(static_cast<std::size_t>(cpu), &spare);
  if (CPU_COUNT(&spare) > 0) ::sched_setaffinity(0, sizeof spare, &spare);  // best effort: a failure here is harmless
}

int exit_status(const program::ProgramHistory& history, const program::ProgramTerminal& terminal) {
  if (stops_asked() > 0) return exit_status_after_stop();
  if (terminal.output_error() == EPIPE) return kNobodyReads;
  if (terminal.output_error() != 0) {
    fmt::print(stderr, "replay: the program's output cannot be passed on: {}\n",
               std::strerror(terminal.output_error()));
    return 1;
  }
  if (!history.end) return 1;
  if (history.end->outcome == Outcome::kCompleted) return 0;
  return history.end->exit_code != 0 ? history.end->exit_code : 1;
}

/// Prints each change when it occurs, beside the program's own output.
void tell(const program::ChangeRecord& change, const program::PhaseKind& now) {
  if (change.refused.empty())
    fmt::print(stderr, "[{:8.2f} s] {}: {}, in {:.2f} ms\n", change.at, to_text(change.planned.kind),
               program::phase_name(now), change.took * 1e3);
  else
    fmt::print(stderr, "[{:8.2f} s] {} refused: {}\n", change.at, to_text(change.planned.kind), change.refused);
}

class RunProgram {
 public:
  RunProgram(const RunProgramOptions& options, std::vector<std::string> command)
      : options_(options), plan_(options.changes), cores_(choose_cores(options)) {
    const Pairing pairing = options.pairing == "block" ? Pairing::kBlock : Pairing::kCyclic;
    const std::vector<int> shrunk = choose_shrunk_cores(options, plan_, cores_);
    settings_.command = std::move(command);
    settings_.with_vmlib = options.with_vmlib;
    settings_.is_switched_off = is_switched_off(read_environment(options.environment));
    settings_.core_of_rank = program::place_ranks(options.ranks, cores_, pairing);
    if (!shrunk.empty()) settings_.shrunk_to = program::place_ranks(options.ranks, shrunk, pairing);
    order_.shrunk_to = settings_.shrunk_to;
    order_.launch.job = kJob;
    order_.launch.environment = read_environment(options.environment);
    order_.launch.core_of_rank = settings_.core_of_rank;
    order_.launch.malleable = options.with_vmlib;
    if (!options.with_vmlib && plan_.has_resizes())
      throw UsageError(
          "--no-vm: ranks without vmlib are not moved; give them fewer cores from the start, with --cores");
  }

  int run() {
    const std::string& name = settings_.command.front();
    auto program = benchmark(name);
    if (!program) program = find_program(name);
    if (!program) {
      fmt::print(stderr, "replay: there is no program '{}': neither a benchmark of ours (in {}) nor on the PATH\n",
                 name, library_folder().string());
      return kCannotStart;
    }
    order_.launch.command = settings_.command;
    order_.launch.command.front() = program->string();
    return run_with_agent();
  }

 private:
  int run_with_agent() {
    launcher::AgentOptions agent_options;
    agent_options.back_end = experiment::back_end_of(options_.back_end);
    agent_options.network = experiment::job_network_of(options_.job_network);
    if (const auto note = experiment::job_network_note(agent_options.network); note && !options_.json)
      fmt::print(stderr, "replay: note: {}\n", *note);
    agent_options.mpiexec = find_mpiexec();
    if (options_.with_vmlib) agent_options.vmlib = find_vmlib();
    leave_cores(cores_);
    const HeedStops heeding;
    program::ReportOutput report{options_.report, options_.json};
    const TemporaryFolder folder;
    order_.launch.directory = folder.path().string();
    // Before the loop: the agent is forked while this process has one thread and nothing open.
    launcher::AgentHandle agent = launcher::start_agent(agent_options);
    return under(agent, folder.path(), report);
  }

  static fs::path find_mpiexec() {
    const auto found = find_program("mpiexec");
    if (!found)
      throw InputError(
          "mpiexec is not on the PATH: a run needs MPICH; on Debian `apt install mpich`, or `./dev build`");
    return *found;
  }
  static fs::path find_vmlib() {
    const auto found = vm_library();
    if (!found)
      throw InputError(
          fmt::format("no libreplay-vm.so in {}: build it, or run with --no-vm", library_folder().string()));
    return *found;
  }

  int under(launcher::AgentHandle& agent, const fs::path& folder, program::ReportOutput& report) {
    const launcher::EventBase loop{event_base_new()};
    int status = 1;
    program::ProgramHistory history;
    {
      program::ProgramRun run{loop.get(),
                              agent.stream(),
                              order_,
                              plan_,
                              [this](const auto& started) { on_start(started); },
                              [this](const auto& change, const auto& now) {
                                if (!options_.json && options_.changes.every.empty()) tell(change, now);
                              }};
      program::ProgramTerminal terminal{loop.get(), folder, report.program_output(), run};
      run.launch();
      event_base_dispatch(loop.get());
      terminal.pass_on();
      history = run.history();
      status = exit_status(history, terminal);
    }
    agent.stop();  // after a third Ctrl-C the program is ended here
    report.write(settings_, history);
    return status;
  }

  void on_start(const protocol::JobStarted& started) const {
    if (options_.with_vmlib && !started.malleable && !options_.json)
      fmt::print(stderr, "replay: the program is rigid: {}\n", started.reason);
  }

  const RunProgramOptions& options_;
  program::ChangePlan plan_;
  std::vector<int> cores_;
  program::ProgramSettings settings_;
  program::ProgramOrder order_;
};

/// The words behind our options. Throws UsageError when they do not begin with a program.
std::vector<std::string> read_command(const std::vector<std::string>& words) {
  if (words.empty())
    throw UsageError("expected a program: replay run [OPTIONS] PROGRAM [ARGS...]; see `replay run --help`");
  if (words.front().starts_with("-") && words.front().size() > 1)
    throw UsageError(fmt::format("run: there is no option {}; see `replay run --help`", words.front()));
  return words;
}

void add_change_options(CLI::App& command, program::ChangeTexts& changes) {
  const auto add = [&command](const char* name, std::vector<std::string>& times, const char* what) {
    command.add_option(name, times, what)->type_name("TIME")->allow_extra_args(false);
  };
  add("--shrink-at", changes.shrink_at, "shrink then: 5s, 200ms or 1min after MPI_Init; may be repeated");
  add("--expand-at", changes.expand_at, "expand again then; may be repeated");
  command.add_option("--every", changes.every, "shrink and expand in turn, so often, until the program ends")
      ->type_name("TIME");
  add("--suspend-at", changes.suspend_at, "stop all ranks then; may be repeated");
  add("--resume-at", changes.resume_at, "let them go on then; may be repeated");
}

}  // namespace

Command add_run_program(CLI::App& app) {
  auto* command =
      app.add_subcommand("run", "one MPI program by hand, shrunk and expanded while it runs: `run PROGRAM ARGS...`");
  command->prefix_command();
  command->footer(
      "The rest of the line is the program and its arguments: replay run [OPTIONS] PROGRAM [ARGS...]\n"
      "PROGRAM is one of `replay benchmarks`, a path, or on the PATH. Its standard input is empty, its output is "
      "passed on,\n"
      "its exit status is ours; 127: it could not be started, 130: Ctrl-C (143: SIGTERM, 129: SIGHUP).\n\n"
      "Examples:\n"
      "  replay run --shrink-at 2s --expand-at 4s cg --class W --repeat 60\n"
      "  replay run -n 4 --every 500ms ./my_program");
  auto options = std::make_shared<RunProgramOptions>();
  command->add_option("-n", options->ranks, "ranks")
      ->check(CLI::Range(1, static_cast<int>(REPLAY_VM_MAX_RANKS)))
      ->type_name("RANKS")
      ->capture_default_str();
  command->add_flag("--vm,!--no-vm", options->with_vmlib, "with vmlib (default), or as with stock MPI, for comparison");
  command->add_option("--cores", options->cores, "by OS index, such as 0-3,5 (default: this machine's, one per rank)")
      ->type_name("LIST");
  command->add_flag("--smt", options->smt, "count hardware threads as cores");
  add_change_options(*command, options->changes);
  command->add_option("--to", options->shrink_to, "cores that are left when shrunk (default: half of them)")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("CORES");
  command->add_option("--pairing", options->pairing, "ranks that share a core: block (neighbours) or cyclic")
      ->check(CLI::IsMember({"block", "cyclic"}))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--back-end", options->back_end, "how a rank gives its core away: auto, yield or token")
      ->check(CLI::IsMember({"auto", "yield", "token"}))
      ->type_name("NAME")
      ->capture_default_str();
  add_job_network_option(*command, options->job_network);
  command->add_option("--env", options->environment, "for the ranks: NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "the report as JSON, on stdout; the program's output then goes to stderr");
  command->add_option("--report", options->report, "write the report here; the program's output stays as it is")
      ->type_name("FILE");
  return [options, command] { return RunProgram{*options, read_command(command->remaining())}.run(); };
}

}  // namespace replay::cli
