// The live engine's executor for one node: its orders go to the node agent, and the agent's reports come back as the
// listener's calls. Nothing is decided here; cores become hardware threads on the way out. Whether the agent is our own child
// on a socket pair or one behind TCP makes three differences: which side clears up when it is lost, which clock counts,
// and whether frames are sealed and written by a thread of their own.
#pragma once

#include <memory>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "launcher/os/topology.hpp"
#include "scheduler/live/executor.hpp"

namespace replay::launcher {

/// Takes the agent over: destroying the executor ends all jobs and waits for the agent to go, about 3 s at most; the
/// listener hears nothing of it. After a job's on_ended there is no further call for it. An order for a job that has
/// ended, while its end is still on its way, is answered by that end.
[[nodiscard]] std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local);

/// The same for an agent that was started elsewhere (`replay agent`); CoreId i is the i-th core of its Hello.
/// Destroying the executor closes the line; the agent then ends its jobs, and this process does not wait for that.
/// REQUIRES: the agent and this process see the same file system under the jobs' directories.
[[nodiscard]] std::unique_ptr<live::Executor> make_remote_executor(AgentLink link);

}  // namespace replay::launcher
