// The machine of a run whose cores are on other nodes, each with a node agent:
//   agent:HOST:PORT   one node, on which `replay agent` runs already
//   hosts:FILE        a node for each host of the file; agents are started there, or run already
//   slurm[:WORDS]     a node for each host of the job of Slurm in which the run is, with these words of a hosts file
//   pbs               hosts:FILE with the file of the job of PBS or Torque in which the run is
// The connections are made as soon as the command line is read, because only the agents know how many cores there are.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/bootstrap/agent_starter.hpp"
#include "launcher/bootstrap/hosts_file.hpp"
#include "launcher/daemon/agent_executor.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/experiment/kept_run.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/live/engine.hpp"

namespace replay::experiment {

/// Cores of this computer, or emulated ones, for its agent.
struct LocalCores {
  const launcher::LocalMachine& machine;
  int packages = 1;
  bool are_emulated = false;
};

/// Whether one of them is there still: it ends when its lease is over.
[[nodiscard]] bool is_an_agent_there(const KeptAgents& agents);

class Cluster {
 public:
  /// `spec.machine` is one of the forms above. Throws UsageError for an invalid text; InputError, with a line for each host
  /// that cannot be used, if there is no agent or it has another key.
  explicit Cluster(const RunSpec& spec);
  /// The same with the agents of a run that goes on, or is adopted: none is started, and none is connected to before its executor
  /// goes on.
  Cluster(const RunSpec& spec, const KeptAgents& kept);
  /// One agent of this computer, which is started for a run whose jobs outlive its daemon, or was. It keeps the descriptor `held`
  /// open, if that is not negative. REQUIRES: `here` are its cores.
  Cluster(const RunSpec& spec, const LocalCores& here, const KeptAgents* kept, int held);
  /// Throws UsageError: jobs cannot outlive their daemon with this lease.
  static void expect_lease(const RunSpec& spec);

  /// The nodes with the cores that their agents have named.
  [[nodiscard]] const launcher::LocalMachine& machine() const { return machine_; }
  [[nodiscard]] bool is_emulated() const { return nodes_.front().hello.emulated; }
  /// "agent 127.0.0.1:40123", "4 hosts of lab.hosts", "3 hosts of Slurm job 17".
  [[nodiscard]] std::string name() const;
  /// The names of the nodes, in their order. Empty for agent:HOST:PORT.
  [[nodiscard]] std::vector<std::string> hosts() const;

  /// When the batch system takes the hosts away, if it says.
  [[nodiscard]] const std::optional<live::MachineEnd>& end() const { return end_; }
  /// A line for each node: its cores, and the command that has started its agent.
  [[nodiscard]] std::vector<std::string> describe_nodes() const;

  /// Asks each node for what has to be alike: the run's `folder` under its path, the `programs` of jobs, MPI, vmlib.
  /// Returns notes, a line each: of agents' starts, and of clocks that differ. Throws InputError with a line for each
  /// host and what does not fit there. REQUIRES: before start().
  [[nodiscard]] std::vector<std::string> check(const std::filesystem::path& folder,
                                               const std::vector<std::string>& programs);

  /// Throws UsageError when an agent will be gone before the last of so many runs.
  void expect_runs(std::size_t count) const;
  /// The executor of one run on `used`: the machine, or fewer cores of each node. The first run has the first connections,
  /// each later one new ones. A node that comes back has to be as it was at check(). Does not outlive this. Throws
  /// InputError.
  [[nodiscard]] std::unique_ptr<launcher::MeasuredExecutor> start(const launcher::LocalMachine& used);
  /// The agents of the last start(), and the sessions with them.
  [[nodiscard]] const KeptAgents& agents() const { return kept_; }
  /// They go on without this.
  void leave_agents() {
    if (starter_) starter_->leave();
  }

 private:
  struct Node {
    std::string host;  ///< empty: agent:HOST:PORT
    launcher::LinkAddress address;
    std::optional<launcher::AgentLink> first{};
    protocol::Hello hello{};
    bool stays = false;
    std::string started_by{};  ///< a command line; empty: its agent ran already
    /// "host node1", or "agent 127.0.0.1:40123".
    [[nodiscard]] std::string title() const;
  };

  struct Checked;

  static void expect_alike(launcher::AgentLink& link, const Checked& checked);
  [[nodiscard]] std::vector<launcher::Host> hosts_of_slurm(const RunSpec& spec);
  void take_hosts(const RunSpec& spec);
  void start_agents(const RunSpec& spec, launcher::Bootstrap how, std::vector<launcher::Host> hosts);
  void connect_first();
  void expect_as_many_kept() const;
  void take_kept_nodes();
  [[nodiscard]] std::vector<launcher::AgentLink> links_of_kept() const;
  [[nodiscard]] std::vector<launcher::AgentLink> connect_for_run();
  [[nodiscard]] std::vector<launcher::AgentLink> connect(std::chrono::milliseconds patience) const;
  [[nodiscard]] std::vector<launcher::AgentLink> connect_again();
  [[nodiscard]] std::string text_of(const std::vector<std::string>& misfits) const;
  void make_machine();

  KeptAgents kept_;
  bool goes_on_ = false;  // start() is that of the run whose agents these are
  std::string file_;      // of the hosts, or "Slurm job 17"; empty: agent:HOST:PORT
  std::optional<live::MachineEnd> end_;
  protocol::LinkKey key_{};
  bool is_key_of_user_ = false;
  std::chrono::milliseconds lease_;
  std::unique_ptr<launcher::AgentStarter> starter_;  // ends the agents that it has started
  std::vector<Node> nodes_;
  launcher::LocalMachine machine_;
  std::shared_ptr<const Checked> checked_;  // null: not checked
};

}  // namespace replay::experiment
