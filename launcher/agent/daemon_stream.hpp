// How an agent reaches its daemon: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

/// A connection to the daemon.
struct DaemonStream {
  UniqueFd stream;                             ///< non-blocking
  std::optional<protocol::LinkSeals> seals{};  ///< none: frames travel as they are
  std::uint64_t received = 0;                  ///< the number of the last report that the daemon has
};

struct AgentConnection {
  DaemonStream first;
  std::chrono::milliseconds lease{0};  ///< how long its jobs go on without a connection; 0: they end with it
  UniqueFd further{};  ///< brings connections in place of a cut one (receive_connection()); closed: none
};

}  // namespace replay::launcher
