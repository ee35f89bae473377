// The live engine's executor over the nodes of a machine: its orders go to the node agents, and the agents' reports come back
// as the listener's calls. Nothing is decided here; cores become hardware threads of nodes on the way out. Whether an agent is
// our own child on a socket pair or one behind TCP makes three differences: which side clears up when it is lost, which clock
// counts, and whether its line is sealed and mended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/live/executor.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

/// What its jobs' ranks have done so far can be asked, for measurements; no decision depends on it.
class MeasuredExecutor : public live::Executor {
 public:
  using OnStatistics = std::function<void(const protocol::JobStatistics&)>;
  /// Before attach(); called as the listener is.
  virtual void tell_statistics_to(OnStatistics on_statistics) = 0;
  /// Of all ranks of the job, in their order. Has no answer for a job that has ended, on one of its nodes at least.
  virtual void ask_statistics(JobId job) = 0;
};

/// Takes the agent over: destroying the executor ends all jobs and waits for the agent to go, about 3 s at most; the
/// listener hears nothing of it. After a job's on_ended there is no further call for it. An order for a job that has
/// ended, while its end is still on its way, is answered by that end.
[[nodiscard]] std::unique_ptr<MeasuredExecutor> make_local_executor(AgentHandle agent, LocalMachine local);

/// A node whose agent was started elsewhere (`replay agent`).
struct RemoteNode {
  AgentLink link;    ///< not connected: that of a daemon that has ended, in a run that goes on (Executor::play())
  std::string host;  ///< its name in reasons
  std::vector<PuId> cores;  ///< that the machine has of it, in the machine's order
  /// A session with a new agent of this node, which has those cores and none of our jobs; called on another thread when the
  /// node is down, again and again. Blocks no longer once `cancel` can be read. Throws InputError, if there is none. Null:
  /// a node that is down stays so.
  std::function<AgentLink(int cancel)> rejoin{};
};
/// The same for nodes with agents that were started elsewhere; the machine's cores are those of the first node, then those of
/// the second, and so on. Destroying the executor ends the sessions; the agents then end their jobs, and this process does not
/// wait for that. Each node is lost by itself (ExecutorListener::on_node()), and may come back; the executor is lost with the
/// only node, or when all are down. No job is launched on a node that is down.
/// REQUIRES: the agents and this process see the same file system under the jobs' directories.
[[nodiscard]] std::unique_ptr<MeasuredExecutor> make_remote_executor(std::vector<RemoteNode> nodes);

}  // namespace replay::launcher
