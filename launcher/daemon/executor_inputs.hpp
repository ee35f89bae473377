// What reaches an executor from its nodes, as bytes: a run whose jobs outlive their daemon keeps it
// (scheduler/live/turn_log.hpp), and the next daemon plays it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "launcher/daemon/agent_link.hpp"
#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {

struct Reported {  ///< a report with a number
  std::size_t node = 0;
  protocol::AgentReport report;
};
struct LineChanged {
  std::size_t node = 0;
  bool is_mended = false;  ///< false: it is cut
  std::string text;        ///< for the user
};
struct NodeLost {
  std::size_t node = 0;
  std::string reason;
};
struct NodeRejoined {  ///< with a new session
  std::size_t node = 0;
  std::string address;  ///< of its agent, "127.0.0.1:40123"
  protocol::SessionId session{};
};
struct RejoinFailed {
  std::size_t node = 0;
  std::string why_not;
};
using ExecutorInput = std::variant<Reported, LineChanged, NodeLost, NodeRejoined, RejoinFailed>;

[[nodiscard]] std::string to_bytes(const ExecutorInput& input);
/// Throws ProtocolError: they are not those of one input for one of so many nodes.
[[nodiscard]] ExecutorInput executor_input(const std::string& bytes, std::size_t nodes);

}  // namespace replay::launcher
