// The challenge at the start of a line over TCP: each side proves that it has the same key, without sending it, before
// the first order or report. Pure: bytes in, bytes out; the caller has the socket, the clock and the random nonces.
//
//   daemon -> agent, agent -> daemon   opening: who, which versions, a nonce
//   daemon -> agent                    proof:  crypto_auth(key, who + both openings)
//   agent -> daemon                    answer: served or busy, and crypto_auth(key, who + answer + both openings)
//
// The daemon proves first: who has no key learns nothing from an agent but a nonce. A message that is replayed carries an
// old nonce; one that is reflected carries the wrong role; both make another proof. It says who may give orders. It hides
// nothing, and does not protect what follows from somebody who can change packets on their way
// (docs/formats/agent-protocol.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/protocol/frame.hpp"

namespace replay::protocol {

inline constexpr std::uint16_t kLinkVersion = 1;
inline constexpr std::size_t kOpeningBytes = 48;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kAnswerBytes = 1 + kProofBytes;

using LinkKey = std::array<std::uint8_t, 32>;
using LinkNonce = std::array<std::uint8_t, 32>;

enum class LinkRole : std::uint8_t { kDaemon = 1, kAgent = 2 };

/// What an agent says to a daemon that has the key.
enum class LinkAnswer : std::uint8_t {
  kServed = 0,       ///< frames follow; the agent goes when this daemon goes
  kServedStays = 1,  ///< frames follow; the agent waits for the next daemon afterwards
  kBusy = 2          ///< it serves another daemon; the connection ends
};

/// One side of one connection.
class Handshake {
 public:
  /// `nonce` has never been used before and cannot be guessed.
  Handshake(LinkRole own_role, const LinkKey& key, const LinkNonce& nonce);

  /// To be sent first, by both sides.
  [[nodiscard]] const std::string& opening() const { return own_opening_; }
  /// So many bytes have to come before anything else can happen; 0: nothing more is expected. Reading no more than that
  /// leaves the frames behind the handshake in the socket.
  [[nodiscard]] std::size_t wanted() const;
  /// REQUIRES: at most wanted() bytes. What is to be sent now, often nothing. Throws ProtocolError when the other side
  /// is not what it must be; then there is no other use of the connection than closing it.
  [[nodiscard]] std::string feed(std::string_view bytes);

  /// The other side has the key. Of an agent, answer() is due; a daemon knows the answer().
  [[nodiscard]] bool is_proved() const { return step_ == Step::kProved; }
  /// An agent's last words in the handshake. REQUIRES: is_proved().
  [[nodiscard]] std::string answer(LinkAnswer answer) const;
  /// What the agent has said. REQUIRES: a daemon, is_proved().
  [[nodiscard]] LinkAnswer answer() const;

 private:
  enum class Step : std::uint8_t { kOpening, kProof, kAnswer, kProved, kFailed };

  [[nodiscard]] std::string take(std::string_view message);
  void check_opening(std::string_view message) const;
  [[nodiscard]] std::string proof_of(LinkRole role, std::uint8_t answer) const;
  void check_proof(LinkRole role, std::uint8_t answer, std::string_view proof) const;

  LinkRole own_role_;
  LinkKey key_;
  std::string own_opening_;
  std::string their_opening_;
  std::string incoming_;  // of the message that is expected
  LinkAnswer answer_ = LinkAnswer::kBusy;
  Step step_ = Step::kOpening;
};

}  // namespace replay::protocol
