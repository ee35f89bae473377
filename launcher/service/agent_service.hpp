// `replay agent`: a service that waits for daemons. This process only accepts connections; for a daemon that has proved
// the key it forks the agent proper, so that no other connection can disturb a run, and so that a process is left to
// clean up when the agent is killed. The agent in turn ends its jobs when this process dies.
#pragma once

#include <chrono>
#include <functional>

#include "launcher/agent/agent.hpp"
#include "launcher/daemon/agent_link.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

struct AgentServiceOptions {
  AgentOptions agent;
  LinkAddress listen{"127.0.0.1", 0};
  protocol::LinkKey key{};
  bool stays = false;  ///< false: goes with its first daemon
  /// A pipe or the like that the program which has started this one holds open as long as it wants the agent; negative:
  /// none. The service then ends as on SIGTERM when the pipe is closed, and with status 1 when no daemon has come
  /// within `first_daemon_within`.
  int starter = -1;
  std::chrono::milliseconds first_daemon_within{60'000};
  /// Called once, when daemons can connect.
  std::function<void(const LinkAddress&)> on_listening;
};

/// Serves until the first daemon has gone (`stays`: for ever), a stop signal (stop_signals.hpp) comes, or the starter wants
/// no agent; then no process or file of any job is left. Each event is one line on stderr. Exit status: 0, 1 when an agent
/// was killed, 130 after Ctrl-C. REQUIRES: a single thread, a StopSignals. Throws InputError when it cannot listen.
[[nodiscard]] int serve_daemons(const AgentServiceOptions& options);

}  // namespace replay::launcher
