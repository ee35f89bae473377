#include "launcher/agent_door.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/link_key.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

/// The handshake's messages are far smaller than any socket's buffer.
bool sends(int socket, const std::string& bytes) {
  return bytes.empty() ||
         ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

AgentDoor::AgentDoor(event_base* loop, UniqueFd listener, const protocol::LinkKey& key, Callbacks callbacks)
    : loop_(loop),
      key_(key),
      callbacks_(std::move(callbacks)),
      listener_(loop, std::move(listener), [this](UniqueFd stream) { add(std::move(stream)); }) {}

void AgentDoor::add(UniqueFd stream) {
  if (candidates_.size() == kMostCandidates) refuse(candidates_.begin(), "made room for a newcomer");
  send_without_delay(stream.get());
  const int socket = stream.get();
  candidates_.push_back({peer_address(socket).to_text(),
                         std::move(stream),
                         {protocol::LinkRole::kAgent, key_, new_nonce()},
                         nullptr,
                         nullptr});
  const auto place = std::prev(candidates_.end());
  place->readable =
      std::make_unique<LoopEvent>(loop_, socket, EV_READ | EV_PERSIST, [this, place] { read_from(place); });
  place->readable->arm();
  place->too_late = std::make_unique<LoopEvent>(loop_, -1, 0, [this, place] {
    refuse(place, fmt::format("has not proved the key within {} s", kProveWithin.count() / 1000));
  });
  place->too_late->arm_after(kProveWithin);
  if (!sends(socket, place->handshake.opening())) refuse(place, "does not read");
}

/// Never more than the handshake: what follows is for the agent.
void AgentDoor::read_from(Place place) {
  std::string bytes(place->handshake.wanted(), '\0');
  const ssize_t got = ::recv(place->stream.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return refuse(place, std::strerror(errno));
  if (got == 0) return refuse(place, "left without having proved the key");
  try {
    const std::string reply = place->handshake.feed({bytes.data(), static_cast<std::size_t>(got)});
    if (!sends(place->stream.get(), reply)) return refuse(place, "does not read");
  } catch (const protocol::ProtocolError& error) {
    return refuse(place, error.what());
  }
  if (place->handshake.is_proved()) let_in(place);
}

void AgentDoor::let_in(Place place) {
  const protocol::LinkAnswer answer = callbacks_.answer();
  const bool is_told = sends(place->stream.get(), place->handshake.answer(answer));
  UniqueFd stream = std::move(place->stream);
  const std::string name = place->name;
  candidates_.erase(place);
  if (answer == protocol::LinkAnswer::kBusy)
    callbacks_.on_refused(name, "another daemon is served");
  else if (is_told)
    callbacks_.on_daemon(std::move(stream), name);
}

/// Says so before it closes: whoever sees the line closed finds the reason in our output.
void AgentDoor::refuse(Place place, const std::string& reason) {
  ++refused_;
  callbacks_.on_refused(place->name, reason);
  candidates_.erase(place);
}

}  // namespace replay::launcher
