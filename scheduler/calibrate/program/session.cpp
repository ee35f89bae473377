#include "scheduler/calibrate/program/session.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "launcher/agent/agent.hpp"
#include "launcher/mpich/mpiexec.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/paths.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/process/stop_signals.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/calibrate/program/output.hpp"
#include "scheduler/calibrate/program/report.hpp"
#include "scheduler/calibrate/program/run.hpp"
#include "scheduler/experiment/real_machine.hpp"
#include "scheduler/protocol/wire.h"

namespace replay::calibrate {
namespace fs = std::filesystem;
namespace {

constexpr JobId kJob{1};
constexpr int kCannotStart = 127;  // as a shell reports it
constexpr int kNobodyReads = 128 + SIGPIPE;

/// The cores of the expanded job: those asked for, or the machine's, at most one per rank.
std::vector<launcher::PuId> choose_cores(const ProgramRequest& request) {
  const std::string spec = request.cores.empty() ? "local" : "local:" + request.cores;
  std::vector<launcher::PuId> cores = launcher::discover_local(spec, request.smt).pu_of_core;
  cores.resize(std::min(cores.size(), static_cast<std::size_t>(request.ranks)));
  return cores;
}

/// Those of `cores` that the shrunk job keeps. Empty: there are no shrinks.
std::vector<launcher::PuId> choose_shrunk_cores(const ProgramRequest& request, const ChangePlan& plan,
                                                std::vector<launcher::PuId> cores) {
  if (!plan.has_resizes() && request.shrink_to == 0) return {};
  const int all = static_cast<int>(cores.size());
  if (all == 1) throw UsageError("there is nothing to shrink: the program has one core only; see --cores");
  if (request.shrink_to >= all)
    throw UsageError(
        fmt::format("--to: expected 1 to {}, fewer than the program has, found '{}'", all - 1, request.shrink_to));
  cores.resize(static_cast<std::size_t>(request.shrink_to == 0 ? (all + 1) / 2 : request.shrink_to));
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

class Session {
 public:
  Session(const ProgramRequest& request, const Say& say)
      : request_(request), say_(say), plan_(request.changes), cores_(choose_cores(request)) {
    const std::vector<std::int32_t> shrunk = launcher::numbers(choose_shrunk_cores(request, plan_, cores_));
    settings_.command = request.command;
    settings_.with_vmlib = request.with_vmlib;
    settings_.is_switched_off = is_switched_off(read_environment(request.environment));
    settings_.core_of_rank = place_ranks(request.ranks, launcher::numbers(cores_), request.pairing);
    if (!shrunk.empty()) settings_.shrunk_to = place_ranks(request.ranks, shrunk, request.pairing);
    order_.shrunk_to = settings_.shrunk_to;
    order_.launch.job = kJob;
    order_.launch.environment = read_environment(request.environment);
    order_.launch.core_of_rank = settings_.core_of_rank;
    order_.launch.malleable = request.with_vmlib;
    if (!request.with_vmlib && plan_.has_resizes())
      throw UsageError(
          "--no-vm: ranks without vmlib are not moved; give them fewer cores from the start, with --cores");
  }

  int run() {
    const std::string& name = settings_.command.front();
    auto program = benchmark(name);
    if (!program) program = find_program(name);
    if (!program) {
      say_(fmt::format("replay: there is no program '{}': neither a benchmark of ours (in {}) nor on the PATH", name,
                       library_folder().string()));
      return kCannotStart;
    }
    if (is_input_given())
      say_note(
          "standard input is not passed on to the program: run sh -c 'PROGRAM < FILE', or name a file that it opens");
    if (request_.cores.empty() && cores_.size() < static_cast<std::size_t>(request_.ranks))
      say_note(fmt::format("{} share {}, all that this process may use", counted(request_.ranks, "rank"),
                           counted(cores_.size(), "core")));
    order_.launch.command = settings_.command;
    order_.launch.command.front() = program->string();
    return run_with_agent();
  }

 private:
  void say_note(const std::string& note) const {
    if (!request_.json) say_(fmt::format("replay: note: {}", note));
  }

  int run_with_agent() {
    launcher::AgentOptions agent_options;
    agent_options.back_end = request_.back_end;
    agent_options.network = request_.job_network;
    if (const auto note = experiment::job_network_note(agent_options.network)) {
      say_note(*note);
      agent_options.network = launcher::JobNetwork::kHost;
    }
    if (const auto note = launcher::missing_devices_note(agent_options.network, order_.launch.environment))
      say_note(*note);
    if (const auto note = launcher::threads_note(order_.launch.environment)) say_note(*note);
    agent_options.mpiexec = launcher::find_mpiexec();
    if (request_.with_vmlib) agent_options.vmlib = find_vmlib();
    launcher::leave_cores(cores_);
    const HeedStops heeding;
    ReportOutput report{request_.report, request_.json};
    const TemporaryFolder folder;
    order_.launch.directory = folder.path().string();
    // Before the loop: the agent is forked while this process has one thread and nothing open.
    launcher::AgentHandle agent = launcher::start_agent(agent_options);
    return under(agent, folder.path(), report);
  }

  static fs::path find_vmlib() {
    const auto found = vm_library();
    if (!found)
      throw InputError(
          fmt::format("no libreplay-vm.so in {}: build it, or run with --no-vm", library_folder().string()));
    return *found;
  }

  int under(launcher::AgentHandle& agent, const fs::path& folder, ReportOutput& report) {
    const EventBase loop{event_base_new()};
    int status = 1;
    ProgramHistory history;
    {
      ProgramRun run{loop.get(),
                     agent.stream(),
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
    agent.stop();  // after a third Ctrl-C the program is ended here
    report.write(settings_, history);
    return status;
  }

  void on_start(const protocol::JobStarted& started) const {
    if (!request_.with_vmlib || request_.json) return;
    if (!started.malleable)
      say_(fmt::format("replay: the program is rigid: {}", started.reason));
    else if (!started.reason.empty())
      say_(fmt::format("replay: the program is malleable: {}", started.reason));
  }

  const ProgramRequest& request_;
  const Say& say_;
  ChangePlan plan_;
  std::vector<launcher::PuId> cores_;
  ProgramSettings settings_;
  ProgramOrder order_;
};

}  // namespace

int run_program(const ProgramRequest& request, const Say& say) { return Session{request, say}.run(); }

}  // namespace replay::calibrate
