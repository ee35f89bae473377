// Where a real run runs: what --machine and its companions say, which cores that is, and how the node agent for them is
// started. Everything that differs between kinds of machines is here; the run itself only sees cores and an executor.
//   local, local:CORES   this machine's cores
//   agent:HOST:PORT      those of a node whose agent somebody has started there (remote_agent.hpp)
//   emulated:N[xP]xC     virtual ones, on which only programs run that sleep their work (docs/emulation.md)
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/experiment/remote_agent.hpp"
#include "scheduler/live/executor.hpp"
#include "scheduler/model/machine.hpp"

namespace CLI {
class App;  // its header takes four seconds to compile
}  // namespace CLI

namespace replay::experiment {

/// As given on the command line; --machine itself is among the options that simulations have, too.
struct RealMachineOptions {
  bool smt = false;
  std::string back_end = "auto";
  std::string quantum = "10ms";
  std::string job_network = "own";
  std::string agent_key;  ///< file
};

/// "auto", "yield" or "token", as --back-end has been checked to be.
[[nodiscard]] launcher::BackEnd back_end_of(const std::string& name);

/// "own" or "host", as --job-network has been checked to be.
[[nodiscard]] launcher::JobNetwork job_network_of(const std::string& name);
/// Adds --job-network. `name` must outlive the parse.
void add_job_network_option(CLI::App& command, std::string& name);
/// What the user is told where jobs are wanted to have a network of their own and the system does not permit it. Nothing: it
/// does, or they are not.
[[nodiscard]] std::optional<std::string> job_network_note(launcher::JobNetwork wanted);

/// Real seconds per second of the trace: 1e-6 (a microsecond is the least of both times) to 1000. Throws UsageError.
void expect_time_scale(double time_scale);

/// Adds them to a command. `options` must outlive the parse.
void add_real_machine_options(CLI::App& command, RealMachineOptions& options);

class RealMachine {
 public:
  /// `text` is that of --machine; empty: local. Throws UsageError for what it cannot be, InputError for what is not there.
  RealMachine(const std::string& text, const RealMachineOptions& options);

  /// "1x1x4", "emulated:8x2x2": what the event log and run.json keep.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Machine& machine() const { return local_.machine; }
  [[nodiscard]] bool is_emulated() const { return agent_.emulated_cores > 0; }
  /// The cores are those of the machine that this process is on.
  [[nodiscard]] bool is_here() const { return remote_ == nullptr; }
  /// "4 cores (OS 0,1,2,3)": for the user.
  [[nodiscard]] std::string description() const;
  /// One line each, for the user and run.json.
  [[nodiscard]] const std::vector<std::string>& notes() const { return local_.notes; }
  /// How ranks are run there, by name; for run.json.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const;

  /// How the agent of this node is started. REQUIRES: not a remote one.
  [[nodiscard]] const launcher::AgentOptions& node() const { return agent_; }
  /// Throws UsageError when there cannot be so many runs, one after the other.
  void expect_runs(std::size_t count) const;

  /// Finds what jobs are started with, mpiexec and vmlib. Adds to the notes. Throws InputError when a run needs it.
  void find_programs();
  /// Where there is a core to spare, nothing of this process (and of an agent started later) runs on a job's cores.
  void leave_the_jobs_cores() const;
  /// Starts an agent, or connects to the remote one. REQUIRES: find_programs(), and a single thread: the agent is forked.
  [[nodiscard]] std::unique_ptr<live::Executor> start() const;

 private:
  std::string text_;
  launcher::LocalMachine local_;
  launcher::AgentOptions agent_;
  std::shared_ptr<RemoteAgent> remote_;  // none: the agent is ours
  std::string back_end_;
};

}  // namespace replay::experiment
