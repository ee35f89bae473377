// `--machine agent:HOST:PORT`: the cores of one node on which `replay agent` runs. The connection is made as soon as
// the command line is read, because only the agent knows how many cores there are.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "launcher/daemon/agent_link.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/live/executor.hpp"

namespace replay::experiment {

class RemoteAgent {
 public:
  /// `address` is HOST:PORT. Throws UsageError for an invalid address, InputError if there is no agent or it has
  /// another key.
  RemoteAgent(const std::string& address, const NodeUse& use);

  /// One node with the cores that the agent has named.
  [[nodiscard]] launcher::LocalMachine machine() const;
  [[nodiscard]] bool is_emulated() const { return hello_.emulated; }
  /// "agent 127.0.0.1:40123".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Throws UsageError when the agent will be gone before the last of so many runs.
  void expect_runs(std::size_t count) const;
  /// The executor of one run. The first run has the first connection, each later one a new one. Throws InputError.
  [[nodiscard]] std::unique_ptr<live::Executor> start();

 private:
  launcher::LinkAddress address_;
  protocol::LinkKey key_;
  std::chrono::milliseconds lease_;
  std::optional<launcher::AgentLink> first_;
  std::string name_;
  protocol::Hello hello_;
  bool stays_ = false;
};

}  // namespace replay::experiment
