#include "scheduler/protocol/handshake.hpp"

#include <sodium.h>

#include "scheduler/model/error.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

static_assert(sizeof(LinkKey) == crypto_auth_KEYBYTES && kProofBytes == crypto_auth_BYTES);

constexpr std::string_view kMagic = "RPLAY-LK";
constexpr std::uint8_t kNoAnswer = 0xFF;  // in the daemon's proof, in the place of the answer

const unsigned char* raw(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

std::string opening_of(LinkRole role, const LinkNonce& nonce) {
  ByteWriter out;
  out.put(kLinkVersion);
  out.put(kProtocolVersion);
  out.put(static_cast<std::uint32_t>(role));
  return std::string{kMagic} + out.bytes() + std::string{nonce.begin(), nonce.end()};
}

LinkRole other(LinkRole role) { return role == LinkRole::kAgent ? LinkRole::kDaemon : LinkRole::kAgent; }

std::string_view name_of(std::uint32_t role) {
  if (role == static_cast<std::uint32_t>(LinkRole::kDaemon)) return "a daemon";
  return role == static_cast<std::uint32_t>(LinkRole::kAgent) ? "an agent" : "neither agent nor daemon";
}

}  // namespace

Handshake::Handshake(LinkRole own_role, const LinkKey& key, const LinkNonce& nonce)
    : own_role_(own_role), key_(key), own_opening_(opening_of(own_role, nonce)) {
  const bool is_ready = sodium_init() >= 0;  // does nothing the second time
  INVARIANT(is_ready, "libsodium cannot be used on this machine");
}

std::size_t Handshake::wanted() const {
  switch (step_) {
    case Step::kOpening: return kOpeningBytes - incoming_.size();
    case Step::kProof: return kProofBytes - incoming_.size();
    case Step::kAnswer: return kAnswerBytes - incoming_.size();
    case Step::kProved:
    case Step::kFailed: break;
  }
  return 0;
}

std::string Handshake::feed(std::string_view bytes) {
  if (step_ == Step::kFailed) throw ProtocolError("the handshake has failed before");
  INVARIANT(bytes.size() <= wanted(), "{} bytes for a handshake that expects {}", bytes.size(), wanted());
  if (bytes.empty()) return {};
  incoming_.append(bytes);
  if (wanted() > 0) return {};
  std::string message;
  message.swap(incoming_);
  try {
    return take(message);
  } catch (const ProtocolError&) {
    step_ = Step::kFailed;
    throw;
  }
}

/// A whole message; moves on to the next step.
std::string Handshake::take(std::string_view message) {
  if (step_ == Step::kOpening) {
    check_opening(message);
    their_opening_ = message;
    step_ = own_role_ == LinkRole::kAgent ? Step::kProof : Step::kAnswer;
    return own_role_ == LinkRole::kAgent ? std::string{} : proof_of(own_role_, kNoAnswer);
  }
  if (step_ == Step::kProof) {
    check_proof(LinkRole::kDaemon, kNoAnswer, message);
  } else {
    const auto answer = static_cast<std::uint8_t>(message.front());
    check_proof(LinkRole::kAgent, answer, message.substr(1));
    answer_ = ByteReader{message.substr(0, 1)}.take_enum(LinkAnswer::kBusy, "answer");
  }
  step_ = Step::kProved;
  return {};
}

void Handshake::check_opening(std::string_view message) const {
  if (!message.starts_with(kMagic)) throw ProtocolError("opening: expected that of a replay link, found other bytes");
  ByteReader in{message.substr(kMagic.size())};
  if (const auto version = in.take<std::uint16_t>("link version"); version != kLinkVersion)
    throw ProtocolError(fmt::format("link version: expected {}, found {}", kLinkVersion, version));
  if (const auto version = in.take<std::uint16_t>("protocol version"); version != kProtocolVersion)
    throw ProtocolError(fmt::format("protocol version: expected {}, found {}; both sides must be of one release",
                                    kProtocolVersion, version));
  const auto expected = static_cast<std::uint32_t>(other(own_role_));
  if (const auto role = in.take<std::uint32_t>("role"); role != expected)
    throw ProtocolError(fmt::format("role: expected {}, found {}", name_of(expected), name_of(role)));
  constexpr std::size_t kNonceAt = kOpeningBytes - sizeof(LinkNonce);
  if (message.substr(kNonceAt) == std::string_view{own_opening_}.substr(kNonceAt))
    throw ProtocolError("nonce: expected one of the other side's own, found ours sent back");
}

/// Over all that both sides have said, in one order whoever says it, and over who says this.
std::string Handshake::proof_of(LinkRole role, std::uint8_t answer) const {
  ByteWriter said;
  said.put(static_cast<std::uint8_t>(role));
  said.put(answer);
  const bool is_agent = own_role_ == LinkRole::kAgent;
  const std::string text =
      said.bytes() + (is_agent ? own_opening_ + their_opening_ : their_opening_ + own_opening_);  // the agent's first
  std::array<unsigned char, kProofBytes> proof{};
  crypto_auth(proof.data(), raw(text), text.size(), key_.data());
  return {proof.begin(), proof.end()};
}

void Handshake::check_proof(LinkRole role, std::uint8_t answer, std::string_view proof) const {
  const std::string expected = proof_of(role, answer);
  if (proof.size() != expected.size() || sodium_memcmp(proof.data(), expected.data(), expected.size()) != 0)
    throw ProtocolError("wrong key");
}

std::string Handshake::answer(LinkAnswer answer) const {
  INVARIANT(own_role_ == LinkRole::kAgent && is_proved(), "an answer to a daemon that has not proved the key");
  const auto value = static_cast<std::uint8_t>(answer);
  std::string bytes(1, static_cast<char>(value));
  bytes += proof_of(LinkRole::kAgent, value);
  return bytes;
}

LinkAnswer Handshake::answer() const {
  INVARIANT(own_role_ == LinkRole::kDaemon && is_proved(), "no agent has answered yet");
  return answer_;
}

}  // namespace replay::protocol
