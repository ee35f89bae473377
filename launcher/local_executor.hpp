// The live engine's executor for one machine: its orders go to the node agent, whose reports come back as the listener's
// calls. Nothing is decided here; cores become OS indices on the way out.
#pragma once

#include <memory>

#include "launcher/agent.hpp"
#include "launcher/topology.hpp"
#include "scheduler/live/executor.hpp"

namespace replay::launcher {

/// Takes the agent over: destroying the executor ends all jobs and waits for the agent to go, about 3 s at most; the
/// listener hears nothing of it. After a job's on_ended there is no further call for it. An order for a job that has
/// ended, while its end is still on its way, is answered by that end.
[[nodiscard]] std::unique_ptr<live::Executor> make_local_executor(AgentHandle agent, LocalMachine local);

}  // namespace replay::launcher
