// Fuzz target of the handshake against an attacker without the key. As a peer, it sends arbitrary bytes and is never
// accepted; as a relay between a daemon and an agent with the key, it changes their messages, and then the side that
// received other bytes than were sent never accepts.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "scheduler/protocol/bytes.hpp"
#include "scheduler/protocol/handshake.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

using namespace protocol;

LinkKey filled(std::uint8_t byte) {
  LinkKey bytes;
  bytes.fill(byte);
  return bytes;
}
const LinkKey kKey = filled(0x5A);

/// The next byte of `bytes`; 0 when there is none.
std::uint8_t take(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto first = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  return first;
}

/// Feeds the number of bytes that the handshake asks for, in pieces. Returns the replies; stops at a refusal.
std::string tell(Handshake& listener, std::string_view bytes, std::size_t piece) {
  std::string replies;
  try {
    while (!bytes.empty() && listener.wanted() > 0) {
      const std::size_t length = std::min({piece, listener.wanted(), bytes.size()});
      replies += listener.feed(bytes.substr(0, length));
      bytes.remove_prefix(length);
    }
  } catch (const ProtocolError&) {
    check(listener.wanted() == 0 && !listener.is_proved());
  }
  return replies;
}

void speak(LinkRole to, std::string_view bytes, std::size_t piece) {
  Handshake listener{to, kKey, filled(1)};
  (void)tell(listener, bytes, piece);
  check(!listener.is_proved());
}

/// Changes some bytes of the message; `plan` says which, and how. 0 changes nothing.
std::string changed(std::string message, std::string_view& plan) {
  for (int changes = take(plan) % 4; changes > 0 && !message.empty(); --changes) {
    char& byte = message[take(plan) % message.size()];
    byte = static_cast<char>(byte ^ take(plan));
  }
  return message;
}

void sit_between(std::string_view plan, std::size_t piece) {
  Handshake daemon{LinkRole::kDaemon, kKey, filled(1)};
  Handshake agent{LinkRole::kAgent, kKey, filled(2)};
  const std::string greeting = daemon.greeting();
  const std::string greeting_heard = changed(greeting, plan);
  const std::string opening = tell(agent, greeting_heard, piece);
  const std::string opening_heard = changed(opening, plan);
  const bool is_true = greeting_heard == greeting && opening_heard == opening;
  check(agent.is_expected() == (greeting_heard == greeting));
  const std::string proof = tell(daemon, opening_heard, piece);
  const std::string heard = changed(proof, plan);
  (void)tell(agent, heard, piece);
  check(agent.is_proved() == (is_true && heard == proof));
  if (!agent.is_proved()) return;
  const std::string answer = agent.answer(static_cast<LinkAnswer>(take(plan) % 3));
  const std::string answer_heard = changed(answer, plan);
  (void)tell(daemon, answer_heard, piece);
  check(daemon.is_proved() == (answer_heard == answer));
  if (!daemon.is_proved()) return;
  check(daemon.seals().sending == agent.seals().receiving && daemon.seals().receiving == agent.seals().sending);
}

}  // namespace

void handshake(std::string_view bytes) {
  const std::uint8_t how = take(bytes);
  const std::size_t piece = take(bytes) + std::size_t{1};
  switch (how % 3) {
    case 0: return speak(LinkRole::kAgent, bytes, piece);
    case 1: return speak(LinkRole::kDaemon, bytes, piece);
    default: return sit_between(bytes, piece);
  }
}

}  // namespace replay::fuzz
