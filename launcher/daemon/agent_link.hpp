// The line from a daemon to an agent that was started elsewhere (`replay agent`): address, connection, handshake, the
// agent's Hello. All of it happens before there is an event loop, so calls block, with a limit. The finished line
// carries the same frames as that of a forked agent, sealed, and sends Ping by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/agent/daemon_stream.hpp"
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

/// An agent, and the session with it.
struct LinkTarget {
  std::string name;  ///< "agent 127.0.0.1:40123", for messages
  LinkAddress address;
  protocol::LinkKey key{};
  protocol::LinkSession session{};
  /// How long the session outlives its connection; 0: not at all.
  [[nodiscard]] std::chrono::milliseconds lease() const { return std::chrono::milliseconds{session.lease_ms}; }
};

/// Its address is as numbers.
struct AgentLink : LinkTarget {
  AgentLink() = default;
  AgentLink(AgentLink&&) = default;
  AgentLink& operator=(AgentLink&& other);
  ~AgentLink() { end(); }
  /// Ends the session, and all jobs there.
  void end();
  /// Ends the connection alone, if the session has a lease.
  void close();

  UniqueFd stream;                     ///< non-blocking; to be read only
  protocol::FrameDecoder decoder;      ///< of what comes on the stream
  std::unique_ptr<LinkWriter> writer;  ///< writes to the stream, and sends Ping from the handshake on
  protocol::Hello hello;               ///< what the agent has
  bool is_gone = false;                ///< of a daemon that has ended: so has the agent, and it is not waited for
  bool stays = false;  ///< the agent waits for the next daemon when this one goes; false of a mended one
};

/// Connects, proves the key, checks the agent's and waits for its Hello: usually some milliseconds, at most about 30 s.
/// The session is new; without `lease` it ends with its connection. A connection that is closed before the agent's first
/// message has lost its place to strangers, and is tried again. While the agent is busy, for instance ending the jobs of
/// our own last connection, it is tried again for `patience`. Throws InputError, which says what to look at; AgentIsBusy is
/// one of them.
[[nodiscard]] AgentLink connect_agent(const LinkAddress& address, const protocol::LinkKey& key,
                                      std::chrono::milliseconds lease = std::chrono::milliseconds{0},
                                      std::chrono::milliseconds patience = std::chrono::milliseconds{0});

/// What an agent says of its node.
struct CheckedNode {
  protocol::NodeChecked node;
  std::chrono::microseconds ahead{0};   ///< of our wall clock is the node's
  std::chrono::microseconds within{0};  ///< half the round trip: the error of `ahead`
  /// For the user, if the clocks differ by more than 2 s, or than a turn if jobs may span hosts.
  [[nodiscard]] std::optional<std::string> clock_note(bool is_one_of_several) const;
};
/// Waits for the answer, at most 15 s. REQUIRES: no AgentSession has the link yet. Throws InputError.
[[nodiscard]] CheckedNode check_node(AgentLink& link, const protocol::CheckNode& order);

/// Connects again for its session, trying until it works, until `until`, or until `cancel` can be read. Throws InputError,
/// the end of a sentence: there was no answer, or the agent has lost the session and its jobs.
[[nodiscard]] AgentLink mend_link(const LinkTarget& cut, std::chrono::steady_clock::time_point until, int cancel);

/// Connects for a new session, as the one that is lost: once, for 15 s at most, or until `cancel` can be read. Throws InputError.
[[nodiscard]] AgentLink rejoin_agent(const LinkTarget& lost, int cancel);

/// Whether something listens there, as an agent does; asked for 2 s at most.
[[nodiscard]] bool is_listened_at(const LinkAddress& address);

/// A connection to an agent for something else than a session with it. Throws InputError.
[[nodiscard]] DaemonStream dial_agent(const LinkTarget& target, std::chrono::steady_clock::time_point until,
                                      int cancel);

}  // namespace replay::launcher
