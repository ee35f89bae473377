// A run whose jobs outlive its daemon (--keep-jobs): what the first record of its turn log says, so that the next daemon finds
// the jobs and the time again (docs/formats/turn-log.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::experiment {

/// The agents of a run, and the sessions with them.
struct KeptAgents {
  struct Node {
    std::string host;     ///< empty: of a machine without names of hosts
    std::string address;  ///< "127.0.0.1:40123"
    protocol::SessionId session{};
    protocol::Hello hello{};  ///< its cores
    bool is_started_by_us = false;
  };
  protocol::LinkKey key{};  ///< all zero: that of --agent-key, which is not kept
  std::vector<Node> nodes;
};

struct KeptRun {
  std::string boot;            ///< of the kernel that the daemon ran on
  std::int64_t steady_us = 0;  ///< the run's begin by that kernel's CLOCK_MONOTONIC
  std::int64_t unix_us = 0;    ///< and by the wall clock
  KeptAgents agents;

  /// A run that begins now.
  [[nodiscard]] static KeptRun now(KeptAgents agents);
  /// Throws InputError naming `file` and the member that is missing or wrong.
  [[nodiscard]] static KeptRun parse(const std::string& text, const std::string& file);
  [[nodiscard]] std::string to_text() const;

  /// By the clock of this process; after a restart of the computer, by the wall clock.
  [[nodiscard]] std::chrono::steady_clock::time_point started() const;
};

}  // namespace replay::experiment
