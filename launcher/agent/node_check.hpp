// What has to be alike on all nodes of a run, as this node has it: a file that the daemon has written, the programs of
// jobs, MPI, vmlib, the clock.
#pragma once

#include "launcher/agent/agent.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

/// Blocks as long as the file system does.
[[nodiscard]] protocol::NodeChecked check_node_here(const protocol::CheckNode& order, const AgentOptions& options);

}  // namespace replay::launcher
