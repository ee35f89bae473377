// How an agent reaches its daemon: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

/// A connection to the daemon.
struct DaemonStream {
  UniqueFd stream;                             ///< non-blocking
  std::optional<protocol::LinkSeals> seals{};  ///< none: frames travel as they are
  std::uint64_t received = 0;                  ///< the number of the last report that the daemon has
};

/// Connects to another node's agent, whose door listens at HOST:PORT, for this purpose; blocks until it has, until `until`, or
/// until `cancel` can be read. Throws InputError.
using DialAgent = std::function<DaemonStream(const std::string& address, const protocol::LinkSession&,
                                             std::chrono::steady_clock::time_point until, int cancel)>;

struct AgentConnection {
  DaemonStream first;
  std::chrono::milliseconds lease{0};  ///< how long its jobs go on without a connection; 0: they end with it
  UniqueFd further{};  ///< brings connections in place of a cut one (receive_connection()); closed: none
};

}  // namespace replay::launcher
