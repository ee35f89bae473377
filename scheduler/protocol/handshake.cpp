#include "scheduler/protocol/handshake.hpp"

#include <sodium.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

static_assert(sizeof(LinkKey) == crypto_auth_KEYBYTES && kProofBytes == crypto_auth_BYTES);
static_assert(sizeof(LinkKey) == crypto_generichash_KEYBYTES && sizeof(SealKey) == crypto_generichash_BYTES);

constexpr std::string_view kMagic = "RPLAY-LK";
// In the place of the answer:
constexpr std::uint8_t kProofTag = 0xFF;    // in the daemon's proof
constexpr std::uint8_t kOpeningTag = 0xFE;  // in the tag beside its opening
constexpr std::size_t kNonceAt = kOpeningBytes - sizeof(LinkNonce);
constexpr std::string_view kSealLabel = "replay link 3 frames from role ";
constexpr std::string_view kJobKeyLabel = "replay job";

const unsigned char* raw(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

std::string opening_of(LinkRole role, const LinkNonce& nonce) {
  ByteWriter out;
  out.put(kLinkVersion);
  out.put(kProtocolVersion);
  out.put(static_cast<std::uint32_t>(role));
  return std::string{kMagic} + out.bytes() + std::string{nonce.begin(), nonce.end()};
}

std::string bytes_of(const LinkSession& session) {
  ByteWriter out;
  for (const std::uint8_t byte : session.id) out.put(byte);
  out.put(static_cast<std::uint8_t>(session.purpose));
  out.put(session.lease_ms);
  out.put(session.received);
  return out.bytes();
}

LinkSession session_in(std::string_view bytes) {
  LinkSession session;
  std::ranges::copy(bytes.substr(0, session.id.size()), session.id.begin());
  ByteReader in{bytes.substr(session.id.size())};
  session.purpose = in.take_enum(LinkPurpose::kJobLine, "purpose");
  session.lease_ms = in.take<std::uint32_t>("lease");
  session.received = in.take<std::uint64_t>("received");
  in.expect_end();
  return session;
}

LinkRole other(LinkRole role) { return role == LinkRole::kAgent ? LinkRole::kDaemon : LinkRole::kAgent; }

std::string_view name_of(std::uint32_t role) {
  if (role == static_cast<std::uint32_t>(LinkRole::kDaemon)) return "a daemon";
  return role == static_cast<std::uint32_t>(LinkRole::kAgent) ? "an agent" : "neither agent nor daemon";
}

}  // namespace

Handshake::Handshake(LinkRole own_role, const LinkKey& key, const LinkNonce& nonce, const LinkSession& session)
    : own_role_(own_role), key_(key), session_(session), own_opening_(opening_of(own_role, nonce)) {
  const bool is_ready = sodium_init() >= 0;  // does nothing the second time
  INVARIANT(is_ready, "libsodium cannot be used on this machine");
}

std::string Handshake::greeting() const {
  if (own_role_ == LinkRole::kAgent) return {};
  return own_opening_ + tag_of(own_role_, kOpeningTag, own_opening_);
}

std::size_t Handshake::wanted() const {
  switch (step_) {
    case Step::kOpening: return kOpeningBytes - incoming_.size();
    case Step::kTag: return kProofBytes - incoming_.size();
    case Step::kProof: return kSessionBytes + kProofBytes - incoming_.size();
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

/// A whole message; moves on to the next step. The order of an agent's steps: opening, tag, proof; of a daemon's:
/// opening, answer.
std::string Handshake::take(std::string_view message) {
  switch (step_) {
    case Step::kOpening:
      check_opening(message);
      their_opening_ = message;
      step_ = own_role_ == LinkRole::kAgent ? Step::kTag : Step::kAnswer;
      if (own_role_ == LinkRole::kAgent) return {};
      return proof();
    case Step::kTag:
      check_tag(LinkRole::kDaemon, kOpeningTag, their_opening_, message);
      parting_.clear();
      step_ = Step::kProof;
      return own_opening_;
    case Step::kProof: {
      const std::string_view session = message.substr(0, kSessionBytes);
      check_tag(LinkRole::kDaemon, kProofTag, both_openings().append(session), message.substr(kSessionBytes));
      session_ = session_in(session);
      break;
    }
    default: {
      const auto answer = static_cast<std::uint8_t>(message.front());
      check_tag(LinkRole::kAgent, answer, both_openings(), message.substr(1));
      answer_ = ByteReader{message.substr(0, 1)}.take_enum(LinkAnswer::kResumed, "answer");
    }
  }
  step_ = Step::kProved;
  return {};
}

/// A daemon's.
std::string Handshake::proof() const {
  std::string bytes = bytes_of(session_);
  bytes += tag_of(own_role_, kProofTag, both_openings().append(bytes));
  return bytes;
}

void Handshake::check_opening(std::string_view message) {
  if (!message.starts_with(kMagic)) throw ProtocolError("opening: expected that of a replay link, found other bytes");
  if (own_role_ == LinkRole::kAgent) parting_ = own_opening_;
  ByteReader in{message.substr(kMagic.size())};
  if (const auto version = in.take<std::uint16_t>("link version"); version != kLinkVersion)
    throw ProtocolError(
        fmt::format("link version: expected {} (encrypted frames), found {}{}; both sides must be of one "
                    "release",
                    kLinkVersion, version, version == 1 ? " (frames without protection)" : ""));
  if (const auto version = in.take<std::uint16_t>("protocol version"); version != kProtocolVersion)
    throw ProtocolError(fmt::format("protocol version: expected {}, found {}; both sides must be of one release",
                                    kProtocolVersion, version));
  const auto expected = static_cast<std::uint32_t>(other(own_role_));
  if (const auto role = in.take<std::uint32_t>("role"); role != expected)
    throw ProtocolError(fmt::format("role: expected {}, found {}", name_of(expected), name_of(role)));
  if (message.substr(kNonceAt) == std::string_view{own_opening_}.substr(kNonceAt))
    throw ProtocolError("nonce: expected one of the other side's own, found ours sent back");
}

std::string_view Handshake::their_nonce() const {
  INVARIANT(!their_opening_.empty(), "the other side has said nothing yet");
  return std::string_view{their_opening_}.substr(kNonceAt);
}

/// In one order on both sides: the agent's first.
std::string Handshake::both_openings() const {
  return own_role_ == LinkRole::kAgent ? own_opening_ + their_opening_ : their_opening_ + own_opening_;
}

std::string Handshake::tag_of(LinkRole role, std::uint8_t what, std::string_view openings) const {
  ByteWriter said;
  said.put(static_cast<std::uint8_t>(role));
  said.put(what);
  const std::string text = said.bytes() + std::string{openings};
  std::array<unsigned char, kProofBytes> tag{};
  crypto_auth(tag.data(), raw(text), text.size(), key_.data());
  return {tag.begin(), tag.end()};
}

void Handshake::check_tag(LinkRole role, std::uint8_t what, std::string_view openings, std::string_view tag) const {
  const std::string expected = tag_of(role, what, openings);
  if (tag.size() != expected.size() || sodium_memcmp(tag.data(), expected.data(), expected.size()) != 0)
    throw ProtocolError("wrong key");
}

const LinkSession& Handshake::session() const {
  INVARIANT(is_proved(), "the session of a side that has not proved the key");
  return session_;
}

std::string Handshake::answer(LinkAnswer answer) const {
  INVARIANT(own_role_ == LinkRole::kAgent && is_proved(), "an answer to a daemon that has not proved the key");
  const auto value = static_cast<std::uint8_t>(answer);
  std::string bytes(1, static_cast<char>(value));
  bytes += tag_of(LinkRole::kAgent, value, both_openings());
  return bytes;
}

LinkAnswer Handshake::answer() const {
  INVARIANT(own_role_ == LinkRole::kDaemon && is_proved(), "no agent has answered yet");
  return answer_;
}

/// BLAKE2b keyed with the shared key, over the sender's role and both openings, which have a new nonce each.
SealKey Handshake::seal_key_of(LinkRole sender) const {
  std::string text{kSealLabel};
  text += static_cast<char>('0' + static_cast<int>(sender));
  text += both_openings();
  SealKey key{};
  crypto_generichash(key.data(), key.size(), raw(text), text.size(), key_.data(), key_.size());
  return key;
}

std::string job_key(const LinkKey& key, const SessionId& session, std::uint64_t launch) {
  ByteWriter text;
  text.put_text(kJobKeyLabel);
  text.put_text({reinterpret_cast<const char*>(session.data()), session.size()});
  text.put(launch);
  std::string made(crypto_generichash_BYTES_MIN, '\0');
  crypto_generichash(reinterpret_cast<unsigned char*>(made.data()), made.size(), raw(text.bytes()), text.bytes().size(),
                     key.data(), key.size());
  return made;
}

LinkSeals Handshake::seals() const {
  INVARIANT(is_proved(), "keys before the other side has proved its own");
  return {seal_key_of(own_role_), seal_key_of(other(own_role_))};
}

}  // namespace replay::protocol
