// The machine of a real run: reads its text, finds the cores and starts the node agent for them.
// Everything that differs between kinds of machines is here; the run itself only sees cores and an executor.
//   local, local:CORES   this machine's cores
//   agent:HOST:PORT      those of a node on which `replay agent` runs (cluster.hpp)
//   hosts:FILE, slurm, pbs   those of several hosts
//   emulated:N[xP]xC+... virtual ones, only for programs that sleep their work (docs/emulation.md)
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_executor.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/experiment/cluster.hpp"
#include "scheduler/experiment/prepared.hpp"
#include "scheduler/live/engine.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/machine_part.hpp"

namespace replay::experiment {

/// Simulations may take this computer, or what hwloc describes, as their machine: use_hardware_reader().
void use_hwloc();

/// The note for the user if jobs should have a network of their own and the system does not permit it; else nothing.
[[nodiscard]] std::optional<std::string> job_network_note(launcher::JobNetwork wanted);

class RealMachine {
 public:
  /// That of `spec`, whose cores are used as it says. Throws UsageError for an invalid text, InputError for a missing
  /// machine.
  explicit RealMachine(const RunSpec& spec) : RealMachine(spec, nullptr) {}
  /// That of a run which goes on, with its agents.
  RealMachine(const RunSpec& spec, const KeptAgents& kept) : RealMachine(spec, &kept) {}

  /// "1x1x4", "emulated:8x2x2", "emulated:1x1x4+1x1x2": what the event log and run.json keep.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Machine& machine() const { return local_.machine; }
  [[nodiscard]] const std::vector<launcher::PuId>& pu_of_core() const { return local_.pu_of_core; }
  [[nodiscard]] bool is_emulated() const { return agent_.emulated_cores > 0; }
  /// When the cores are taken away, as by a batch system at its time limit; nothing: not that is known.
  [[nodiscard]] std::optional<live::MachineEnd> end() const { return cluster_ ? cluster_->end() : std::nullopt; }
  /// What a preparation has to know of it.
  [[nodiscard]] RealCores cores() const;
  /// The names of the hosts that its nodes are, in their order. Empty: they have none.
  [[nodiscard]] std::vector<std::string> hosts() const;
  /// What it consists of, in lines: its cores, or those of each host, and how the agents there are started.
  [[nodiscard]] std::vector<std::string> layout() const;
  /// Whether the cores belong to the machine of this process.
  [[nodiscard]] bool is_here() const { return cluster_ == nullptr; }
  /// What its hosts are of, such as "4 hosts of lab.hosts". REQUIRES: not is_here().
  [[nodiscard]] std::string name() const { return cluster_->name(); }
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

  /// From now on only this part of it is used. Adds to the notes.
  void take(const MachinePart& part);
  /// Finds what jobs are started with, mpiexec and vmlib, and enough open files. Adds to the notes. Throws InputError when a run
  /// needs it.
  void find_programs();
  /// Checks that the nodes are fit for a run into `folder`, which exists, with these programs, as Cluster::check();
  /// nothing on this machine. Adds to the notes, and returns what it has added. REQUIRES: before start().
  std::vector<std::string> check_nodes(const std::filesystem::path& folder, const std::vector<std::string>& programs);
  /// Keeps this process (and an agent started later) off the jobs' cores, if there is a core to spare.
  void leave_the_jobs_cores() const;
  /// The agent keeps this descriptor open as long as it lives: with a lock on it, that says how long jobs may use the
  /// cores. Of an agent that outlives this process: as long as this lives, too. REQUIRES: not a remote agent; before start().
  void lend_to_agent(int descriptor) { agent_.kept_open.push_back(descriptor); }
  void lend_to_agent(AgentsLock lock);
  /// Starts an agent, or connects to the remote one. REQUIRES: find_programs(), and a single thread: the agent is forked.
  [[nodiscard]] std::unique_ptr<launcher::MeasuredExecutor> start();
  /// The agents of the last start(). REQUIRES: jobs are kept.
  [[nodiscard]] const KeptAgents& agents() const { return (cluster_ ? cluster_ : keeper_)->agents(); }
  /// They go on without this process. REQUIRES: the same.
  void leave_agents() { (cluster_ ? cluster_ : keeper_)->leave_agents(); }

 private:
  RealMachine(const RunSpec& spec, const KeptAgents* kept);

  /// For the local agent that outlives this process.
  struct Keeps {
    RunSpec spec;
    launcher::LocalMachine machine;  ///< whole
    std::optional<KeptAgents> kept;
  };

  launcher::LocalMachine local_;
  launcher::AgentOptions agent_;
  std::shared_ptr<Cluster> cluster_;        // null: the agent is local
  std::shared_ptr<const Keeps> keeps_;      // null: a local agent ends with this process
  std::shared_ptr<const AgentsLock> lock_;  // of that one; null: none
  std::shared_ptr<Cluster> keeper_;         // from start() on
  std::string back_end_;
};

}  // namespace replay::experiment
