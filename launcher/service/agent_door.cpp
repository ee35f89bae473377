#include "launcher/service/agent_door.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/daemon/link_key.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

/// The handshake's messages are far smaller than any socket's buffer.
bool sends(int socket, const std::string& bytes) {
  return bytes.empty() ||
         ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

/// What counts as one address: the IPv4 address, or the first half of an IPv6 address, because one host can use any
/// address below it.
std::string peer_network(int socket) {
  sockaddr_storage raw{};
  socklen_t length = sizeof raw;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&raw), &length) != 0) return "";
  if (raw.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(raw).sin_addr;
    return {reinterpret_cast<const char*>(&address), sizeof address};
  }
  const auto& address = reinterpret_cast<const sockaddr_in6&>(raw).sin6_addr;
  const auto* bytes = reinterpret_cast<const char*>(&address);
  return IN6_IS_ADDR_V4MAPPED(&address) ? std::string{bytes + 12, 4} : std::string{bytes, 8};
}

}  // namespace

AgentDoor::AgentDoor(event_base* loop, UniqueFd listener, const protocol::LinkKey& key, Callbacks callbacks)
    : loop_(loop),
      key_(key),
      callbacks_(std::move(callbacks)),
      listener_(loop, std::move(listener), [this](UniqueFd stream) { add(std::move(stream)); }) {}

void AgentDoor::add(UniqueFd stream) {
  make_room_for_a_stranger();
  send_without_delay(stream.get());
  const int socket = stream.get();
  strangers_.push_back({peer_address(socket).to_text(),
                        peer_network(socket),
                        std::move(stream),
                        {protocol::LinkRole::kAgent, key_, new_nonce()},
                        nullptr});
  const auto place = std::prev(strangers_.end());
  place->events = std::make_unique<ReadDeadline>(
      loop_, socket, kProveWithin, [this, place] { read_from(place); },
      [this, place] { refuse(place, fmt::format("has not proved the key within {} s", kProveWithin.count() / 1000)); });
}

/// Draws by lot: always refusing the oldest would let a fast flood remove every slow connection. Only connections of
/// the most frequent address are drawn, so a flood from one address costs other addresses nothing.
void AgentDoor::make_room_for_a_stranger() {
  if (strangers_.size() < kMostStrangers) return;
  std::map<std::string_view, std::vector<Place>> by_network;
  for (auto place = strangers_.begin(); place != strangers_.end(); ++place) by_network[place->network].push_back(place);
  const auto& [network, most] =
      *std::ranges::max_element(by_network, {}, [](const auto& places) { return places.second.size(); });
  const Place drawn = most[std::uniform_int_distribution<std::size_t>{0, most.size() - 1}(lot_)];
  refuse(drawn, "made room for a newcomer");
}

/// Reads no byte past the handshake: what follows is for the agent.
void AgentDoor::read_from(Place place) {
  std::string bytes(place->handshake.wanted(), '\0');
  const ssize_t got = ::recv(place->stream.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return refuse(place, std::strerror(errno));
  if (got == 0) return refuse(place, "left without having proved the key");
  try {
    const std::string reply = place->handshake.feed({bytes.data(), static_cast<std::size_t>(got)});
    if (!place->is_expected && place->handshake.is_expected() && !take_in(place)) return;
    if (!sends(place->stream.get(), reply)) return refuse(place, "does not read");
  } catch (const protocol::ProtocolError& error) {
    (void)sends(place->stream.get(), place->handshake.parting());
    return refuse(place, error.what());
  }
  if (place->handshake.is_proved()) let_in(place);
}

/// Moves a connection with a keyed greeting to a place that no stranger takes. False: the greeting was used before.
bool AgentDoor::take_in(Place place) {
  const std::string nonce{place->handshake.their_nonce()};
  if (!greetings_.insert(nonce).second) {
    refuse(place, "repeats the greeting of an earlier connection");
    return false;
  }
  remembered_.push_back(nonce);
  if (remembered_.size() > kRememberedGreetings) {
    greetings_.erase(remembered_.front());
    remembered_.pop_front();
  }
  if (expected_.size() == kMostExpected) refuse(expected_.begin(), "made room for a newcomer with the key");
  expected_.splice(expected_.end(), strangers_, place);
  place->is_expected = true;
  return true;
}

void AgentDoor::let_in(Place place) {
  const protocol::LinkSession session = place->handshake.session();
  const protocol::LinkAnswer answer = callbacks_.answer(session);
  const bool is_told = sends(place->stream.get(), place->handshake.answer(answer));
  DaemonStream stream{std::move(place->stream), place->handshake.seals(), session.received};
  const std::string name = place->name;
  forget(place);
  if (answer == protocol::LinkAnswer::kBusy)
    callbacks_.on_refused(name, "another daemon is served");
  else if (is_told)
    callbacks_.on_daemon(std::move(stream), session, name);
}

/// Reports first, then closes: when the peer sees the line closed, the reason is already in our output.
void AgentDoor::refuse(Place place, const std::string& reason) {
  ++refused_;
  callbacks_.on_refused(place->name, reason);
  forget(place);
}

void AgentDoor::forget(Place place) { (place->is_expected ? expected_ : strangers_).erase(place); }

}  // namespace replay::launcher
