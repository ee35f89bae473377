// The line from a daemon to an agent that was started elsewhere (`replay agent`): address, connection, handshake, the
// agent's Hello. All of it happens before there is an event loop, so calls block, with a limit. The finished line
// carries the same frames as that of a forked agent, sealed, and sends Ping by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/daemon/link_writer.hpp"
#include "scheduler/base/error.hpp"
#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/handshake.hpp"

namespace replay::launcher {

/// Where an agent listens.
struct LinkAddress {
  std::string host;        ///< a name, or an address as numbers
  std::uint16_t port = 0;  ///< 0: chosen by the kernel
  /// "host:40123", "127.0.0.1:0", "[::1]:40123". Throws InputError.
  [[nodiscard]] static LinkAddress parse(std::string_view text);
  [[nodiscard]] std::string to_text() const;
  bool operator==(const LinkAddress&) const = default;
};

/// A listening stream socket, non-blocking. Throws InputError.
[[nodiscard]] UniqueFd listen_on(const LinkAddress& address);
/// A socket's addresses; 0.0.0.0:0 if unknown.
[[nodiscard]] LinkAddress own_address(int socket);
[[nodiscard]] LinkAddress peer_address(int socket);
/// Sends small messages at once (TCP_NODELAY).
void send_without_delay(int socket);

/// The agent serves another daemon.
class AgentIsBusy : public InputError {
 public:
  using InputError::InputError;
};

struct AgentLink {
  AgentLink() = default;
  AgentLink(AgentLink&&) = default;
  AgentLink& operator=(AgentLink&&) = delete;  // the writer must go before its stream
  ~AgentLink() = default;
  /// Ends the connection, and with it all jobs there.
  void close();

  std::string name;                    ///< "agent 127.0.0.1:40123", for messages
  UniqueFd stream;                     ///< non-blocking; to be read only
  protocol::FrameDecoder decoder;      ///< of what comes on the stream
  std::unique_ptr<LinkWriter> writer;  ///< writes to the stream, and sends Ping from the handshake on
  protocol::Hello hello;               ///< what the agent has
  bool stays = false;                  ///< the agent waits for the next daemon when this one goes
};

/// Connects, proves the key, checks the agent's and waits for its Hello: usually some milliseconds, at most about 30 s.
/// A connection that is closed before the agent's first message has lost its place to strangers, and is tried again.
/// Throws InputError, which says what to look at; AgentIsBusy is one of them.
[[nodiscard]] AgentLink connect_agent(const LinkAddress& address, const protocol::LinkKey& key);
/// The same, trying again for `patience` while the agent is busy, for instance ending the jobs of our own last
/// connection.
[[nodiscard]] AgentLink connect_agent(const LinkAddress& address, const protocol::LinkKey& key,
                                      std::chrono::milliseconds patience);

}  // namespace replay::launcher
