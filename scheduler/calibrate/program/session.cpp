#include "scheduler/calibrate/program/session.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_executor.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/calibrate/program/output.hpp"
#include "scheduler/calibrate/program/report.hpp"
#include "scheduler/calibrate/program/run.hpp"
#include "scheduler/experiment/programs.hpp"
#include "scheduler/experiment/real_machine.hpp"

namespace replay::calibrate {
namespace fs = std::filesystem;
namespace {

constexpr JobId kJob{1};
constexpr int kNobodyReads = 128 + SIGPIPE;

/// The machine that is asked for.
experiment::RunSpec spec_of(const ProgramRequest& request) {
  experiment::RunSpec spec = request.run;
  if (request.cores.empty()) return spec;
  if (!spec.machine.empty() && spec.machine != "local")
    throw UsageError(
        fmt::format("--cores {}: expected cores of this machine, found --machine {}", request.cores, spec.machine));
  spec.machine = "local:" + request.cores;
  return spec;
}

std::size_t count_cores(std::vector<CoreId> cores) {
  std::ranges::sort(cores);
  return static_cast<std::size_t>(std::ranges::unique(cores).begin() - cores.begin());
}

/// Where the ranks of the shrunk job are. Empty: there are no shrinks.
std::vector<CoreId> place_shrunk(const ProgramRequest& request, const ChangePlan& plan, const Machine& machine,
                                 const std::vector<CoreId>& expanded) {
  if (!plan.has_resizes() && request.shrink_to == 0) return {};
  const int all = static_cast<int>(count_cores(expanded));
  const int least = nodes_of(expanded, machine);
  if (all == least)
    throw UsageError(least == 1 ? "there is nothing to shrink: the program has one core only; see --cores"
                                : "there is nothing to shrink: the program has one core of each host only");
  if (request.shrink_to >= all || (request.shrink_to != 0 && request.shrink_to < least))
    throw UsageError(fmt::format("--to: expected {} to {}, {}, found '{}'", least, all - 1,
                                 least == 1 ? "fewer than the program has" : "one on each host, fewer than there are",
                                 request.shrink_to));
  const int half = std::max((all + 1) / 2, least);
  return shrink_on_nodes(expanded, request.shrink_to == 0 ? half : request.shrink_to, machine, request.run.pairing);
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

/// Whether a user may expect that the program reads our standard input: it is a pipe, or a file that is not empty.
bool is_input_given() {
  struct stat input {};
  if (::fstat(STDIN_FILENO, &input) != 0) return false;
  return S_ISFIFO(input.st_mode) || S_ISSOCK(input.st_mode) || (S_ISREG(input.st_mode) && input.st_size > 0);
}

int exit_status(const ProgramHistory& history, const ProgramTerminal& terminal, const Say& say) {
  if (stops_asked() > 0) return exit_status_after_stop();
  if (terminal.output_error() == EPIPE) return kNobodyReads;
  if (terminal.output_error() != 0) {
    say(fmt::format("replay: the program's output cannot be passed on: {}", std::strerror(terminal.output_error())));
    return 1;
  }
  if (!history.end) return 1;
  if (history.end->outcome == Outcome::kCompleted) return 0;
  return history.end->exit_code != 0 ? history.end->exit_code : 1;
}

std::string change_text(const ChangeRecord& change, const PhaseKind& now) {
  if (!change.refused.empty())
    return fmt::format("[{:8.2f} s] {} refused: {}", change.at, to_text(change.planned.kind), change.refused);
  return fmt::format("[{:8.2f} s] {}: {}, in {:.2f} ms", change.at, to_text(change.planned.kind), phase_name(now),
                     change.took * 1e3);
}

class ProgramSession {
 public:
  ProgramSession(const ProgramRequest& request, const Say& say)
      : request_(request), say_(say), plan_(request.changes), machine_(spec_of(request)) {
    live::LaunchOrder& launch = order_.launch;
    launch.job = kJob;
    launch.environment = read_environment(request.environment);
    launch.core_of_rank = place_on_nodes(request.ranks, machine_.machine(), request.run.pairing);
    launch.malleable = request.with_vmlib;
    launch.label = request.run.label;
    if (!machine_.is_here()) launch.working_directory = fs::current_path();
    order_.shrunk_to = place_shrunk(request, plan_, machine_.machine(), launch.core_of_rank);
    order_.measures_load = machine_.is_here();
    settings_.command = request.command;
    settings_.with_vmlib = request.with_vmlib;
    if (machine_.is_emulated()) settings_.computing = Computing::kAsleep;
    settings_.core_of_rank = launcher::numbers(pus_of(launch.core_of_rank));
    settings_.shrunk_to = launcher::numbers(pus_of(order_.shrunk_to));
    if (const std::vector<std::string> hosts = machine_.hosts(); !hosts.empty())
      for (const CoreId core : launch.core_of_rank)
        settings_.host_of_rank.push_back(hosts[index_of(machine_.machine().node_of(core))]);
    if (!request.with_vmlib && plan_.has_resizes())
      throw UsageError(
          "--no-vm: ranks without vmlib are not moved; give them fewer cores from the start, with --cores");
  }

  int run() {
    const std::string& name = settings_.command.front();
    using Place = experiment::Programs::Place;
    const auto program = experiment::program_for(name, machine_.is_here() ? Place::kHere : Place::kElsewhere);
    if (!program) {
      say_(fmt::format("replay: there is no program '{}': neither a benchmark of ours (in {}) nor on the PATH", name,
                       library_folder().string()));
      return kCannotStart;
    }
    if (is_input_given())
      say_note(
          "standard input is not passed on to the program: run sh -c 'PROGRAM < FILE', or name a file that it opens");
    const std::size_t cores = count_cores(order_.launch.core_of_rank);
    if (request_.cores.empty() && cores < static_cast<std::size_t>(request_.ranks))
      say_note(fmt::format("{} share {}, all that {}", counted(request_.ranks, "rank"), counted(cores, "core"),
                           machine_.is_here() ? "this process may use" : "the hosts have"));
    order_.launch.command = settings_.command;
    order_.launch.command.front() = *program;
    try {
      return run_on_machine();
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {  // what the machine lacks: the program, mpiexec, processes, open files
      if (is_started_ || stops_asked() > 0) throw;
      say_(fmt::format("replay: {}", error.what()));
    }
    return kCannotStart;
  }

 private:
  void say_note(const std::string& note) const {
    if (!request_.json) say_(fmt::format("replay: note: {}", note));
  }

  [[nodiscard]] std::vector<launcher::PuId> pus_of(const std::vector<CoreId>& cores) const {
    std::vector<launcher::PuId> pus;
    for (const CoreId core : cores) pus.push_back(machine_.pu_of_core()[index_of(core)]);
    return pus;
  }

  int run_on_machine() {
    if (request_.with_vmlib && machine_.is_here() && !vm_library())
      throw InputError(
          fmt::format("no libreplay-vm.so in {}: build it, or run with --no-vm", library_folder().string()));
    machine_.find_programs();
    for (const std::string& note : machine_.notes()) say_note(note);
    if (machine_.is_here()) say_notes_on_variables();
    if (machine_.is_here() && !machine_.is_emulated()) launcher::leave_cores(pus_of(order_.launch.core_of_rank));
    const HeedStops heeding;
    ReportOutput report{request_.report, request_.json};
    const ScratchFolder folder{machine_.is_here() ? fs::path{} : fs::current_path()};
    order_.launch.directory = folder.path();
    for (const std::string& note : machine_.check_nodes(folder.path(), {order_.launch.command.front()})) say_note(note);
    // Before the loop: the agent is forked while this process has one thread and nothing open.
    return under(machine_.start(), folder.path(), report);
  }

  void say_notes_on_variables() const {
    const launcher::Variables& variables = order_.launch.environment;
    if (const auto note = launcher::missing_devices_note(machine_.node().network, variables);
        note && note != launcher::missing_devices_note(machine_.node().network))
      say_note(*note);
    if (const auto note = launcher::threads_note(variables); note && !machine_.is_emulated()) say_note(*note);
  }

  int under(std::unique_ptr<launcher::MeasuredExecutor> executor, const fs::path& folder, ReportOutput& report) {
    is_started_ = true;
    const EventBase loop{event_base_new()};
    int status = 1;
    ProgramHistory history;
    {
      ProgramRun run{loop.get(),
                     *executor,
                     order_,
                     plan_,
                     [this](const auto& started) { on_start(started); },
                     [this](const auto& change, const auto& now) {
                       if (!request_.json && request_.changes.every.empty()) say_(change_text(change, now));
                     }};
      ProgramTerminal terminal{loop.get(), folder, report.program_output(), run};
      run.launch();
      event_base_dispatch(loop.get());
      terminal.pass_on();
      history = run.history();
      status = exit_status(history, terminal, say_);
    }
    executor.reset();  // after a third Ctrl-C the program is ended here
    report.write(settings_, history);
    return status;
  }

  void on_start(const StartedProgram& started) const {
    if (!request_.with_vmlib || request_.json) return;
    if (!started.malleable)
      say_(fmt::format("replay: the program is rigid: {}", started.reason));
    else if (!started.reason.empty())
      say_(fmt::format("replay: the program is malleable: {}", started.reason));
  }

  const ProgramRequest& request_;
  const Say& say_;
  ChangePlan plan_;
  experiment::RealMachine machine_;
  ProgramSettings settings_;
  ProgramOrder order_;
  bool is_started_ = false;
};

}  // namespace

int run_program(const ProgramRequest& request, const Say& say) { return ProgramSession{request, say}.run(); }

}  // namespace replay::calibrate
