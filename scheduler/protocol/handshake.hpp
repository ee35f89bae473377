// The handshake at the start of a connection over TCP: each side proves that it has the same key, without sending it,
// and both derive the keys that seal everything after it. Pure: bytes in, bytes out; the caller has the socket, the
// clock and the random nonces.
//
//   daemon -> agent   opening: role, versions, a nonce; and a tag over it, crypto_auth(key, role + opening)
//   agent -> daemon   opening
//   daemon -> agent   proof:  the session it wants, and crypto_auth(key, role + both openings + session)
//   agent -> daemon   answer: served or busy, and crypto_auth(key, role + answer + both openings)
//
// The tag beside the daemon's opening may be a repeated one and proves nothing; but from the first bytes on it tells a
// daemon with the key from other programs that connect. The proof is over a nonce of the agent's, so that a message of
// an earlier connection, or one sent back to its sender, needs another tag. What follows is sealed (seal.hpp), each
// direction with a key of its own (docs/formats/agent-protocol.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/protocol/frame.hpp"
#include "scheduler/protocol/seal.hpp"

namespace replay::protocol {

/// 1 had no tag beside the daemon's opening, and its frames were neither encrypted nor authenticated; 2 had no sessions.
inline constexpr std::uint16_t kLinkVersion = 3;
inline constexpr std::size_t kOpeningBytes = 48;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kGreetingBytes = kOpeningBytes + kProofBytes;
inline constexpr std::size_t kAnswerBytes = 1 + kProofBytes;
inline constexpr std::size_t kSessionBytes = 16 + 1 + 4 + 8;

using LinkKey = std::array<std::uint8_t, 32>;
using LinkNonce = std::array<std::uint8_t, 32>;
using SessionId = std::array<std::uint8_t, 16>;

enum class LinkRole : std::uint8_t { kDaemon = 1, kAgent = 2 };

/// What a connection is for.
enum class LinkPurpose : std::uint8_t {
  kNewSession,  ///< of a daemon
  kGoesOn,      ///< of a daemon whose last connection was cut
  kJobLine      ///< of another node's agent, for a job on both nodes
};

/// What belongs to a connection, as its maker says it.
struct LinkSession {
  SessionId id{};  ///< of a session, drawn by the daemon; of a job line, the job's key
  LinkPurpose purpose = LinkPurpose::kNewSession;
  std::uint32_t lease_ms = 0;  ///< how long jobs go on without a connection; 0: they end with it
  std::uint64_t received = 0;  ///< the number of the last report that the daemon has
  bool operator==(const LinkSession&) const = default;
};

/// The key of a job on several nodes, 16 bytes: only holders of the link's key can make it. `launch`: of the session's such
/// jobs, which this is.
[[nodiscard]] std::string job_key(const LinkKey& key, const SessionId& session, std::uint64_t launch);

/// An agent's answer to a daemon that has the key.
enum class LinkAnswer : std::uint8_t {
  kServed = 0,       ///< a new session: frames follow; the agent exits when this daemon does
  kServedStays = 1,  ///< a new session: frames follow; the agent waits for the next daemon afterwards
  kBusy = 2,    ///< it serves another daemon, or still has its jobs, or has no session to go on; the connection ends
  kResumed = 3  ///< the session goes on: frames follow
};

/// The keys of one side of one connection.
struct LinkSeals {
  SealKey sending{};
  SealKey receiving{};
};

/// One side of one connection.
class Handshake {
 public:
  /// `nonce` has never been used before and cannot be guessed. `session` is for a daemon to say.
  Handshake(LinkRole own_role, const LinkKey& key, const LinkNonce& nonce, const LinkSession& session = {});

  /// To be sent first: a daemon's opening and the tag over it. Empty for an agent, which only answers.
  [[nodiscard]] std::string greeting() const;
  /// How many bytes must arrive before the next step; 0: nothing more is expected. Reading no more than that leaves the
  /// frames behind the handshake in the socket.
  [[nodiscard]] std::size_t wanted() const;
  /// REQUIRES: at most wanted() bytes. Returns what is to be sent now, often nothing. Throws ProtocolError when a
  /// message of the other side is wrong; then parting() is sent and the connection closed.
  [[nodiscard]] std::string feed(std::string_view bytes);
  /// What is still to be sent to a refused peer, often nothing: an agent's opening, from which another release sees
  /// that versions differ, and a daemon with another key that an agent is there.
  [[nodiscard]] const std::string& parting() const { return parting_; }

  /// For an agent: whether the tag beside the daemon's opening was made with the key, now or earlier.
  [[nodiscard]] bool is_expected() const { return step_ == Step::kProof || is_proved(); }
  /// The nonce of the other side. REQUIRES: it has sent its opening.
  [[nodiscard]] std::string_view their_nonce() const;

  /// Whether the other side has proved the key. Then an agent has to send answer(), and a daemon can read answer().
  [[nodiscard]] bool is_proved() const { return step_ == Step::kProved; }
  /// The session that the daemon wants. REQUIRES: is_proved().
  [[nodiscard]] const LinkSession& session() const;
  /// An agent's last message of the handshake. REQUIRES: is_proved().
  [[nodiscard]] std::string answer(LinkAnswer answer) const;
  /// The answer of the agent. REQUIRES: a daemon, is_proved().
  [[nodiscard]] LinkAnswer answer() const;
  /// The keys of the frames behind the answer. REQUIRES: is_proved().
  [[nodiscard]] LinkSeals seals() const;

 private:
  enum class Step : std::uint8_t { kOpening, kTag, kProof, kAnswer, kProved, kFailed };

  [[nodiscard]] std::string take(std::string_view message);
  [[nodiscard]] std::string proof() const;
  void check_opening(std::string_view message);
  [[nodiscard]] std::string both_openings() const;
  [[nodiscard]] std::string tag_of(LinkRole role, std::uint8_t what, std::string_view openings) const;
  void check_tag(LinkRole role, std::uint8_t what, std::string_view openings, std::string_view tag) const;
  [[nodiscard]] SealKey seal_key_of(LinkRole sender) const;

  LinkRole own_role_;
  LinkKey key_;
  LinkSession session_;
  std::string own_opening_;
  std::string their_opening_;
  std::string incoming_;  // of the message that is expected
  std::string parting_;
  LinkAnswer answer_ = LinkAnswer::kBusy;
  Step step_ = Step::kOpening;
};

}  // namespace replay::protocol
