#include "launcher/daemon/agent_link.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "launcher/daemon/link_key.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr auto kConnectWithin = 10'000ms;
constexpr auto kAnswerWithin = 5'000ms;       // of one message of the handshake
constexpr auto kAgentHelloWithin = 15'000ms;  // the agent looks at its machine first
constexpr auto kCheckedWithin = 15'000ms;     // its file system may be slow
constexpr auto kBetweenTries = 100ms;
constexpr auto kOneTryToMend = 1'500ms;
constexpr int kBacklog = SOMAXCONN;  // long, so that a flood of strangers does not block the others
constexpr int kMostTries = 8;        // when strangers take our place at the door

using Addresses = std::unique_ptr<addrinfo, decltype([](addrinfo* list) { ::freeaddrinfo(list); })>;

Addresses look_up(const LinkAddress& address, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) throw InputError(fmt::format("no address of {} is known: {}", address.host, ::gai_strerror(error)));
  return Addresses{found};
}

LinkAddress address_of(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage raw{};
  socklen_t length = sizeof raw;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* as_address = reinterpret_cast<sockaddr*>(&raw);
  if (ask(socket, as_address, &length) != 0 ||
      ::getnameinfo(as_address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {"0.0.0.0", 0};
  LinkAddress found{host, 0};
  std::from_chars(port, port + std::strlen(port), found.port);
  return found;
}

/// The other side has closed, or says nothing.
struct LinkBroken {
  std::string how;
  bool is_closed = false;
};

/// How long a call may block.
struct Patience {
  Clock::time_point until;
  int cancel = -1;  // blocks no longer when this can be read; negative: nothing cancels
};

Patience within(milliseconds limit, const Patience& at_most) {
  return {std::min(Clock::now() + limit, at_most.until), at_most.cancel};
}

/// Waits until the socket can be read or written.
void wait_for(int socket, short what, const Patience& patience) {
  std::array<pollfd, 2> waiting{{{socket, what, 0}, {patience.cancel, POLLIN, 0}}};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(patience.until - Clock::now());
    const int ready = left <= 0ms ? 0 : ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    if (ready > 0 && waiting[1].revents != 0) throw LinkBroken{"was not waited for"};
    if (ready > 0) return;
    if (ready == 0) throw LinkBroken{"said nothing for too long"};
    if (errno != EINTR) throw LinkBroken{std::strerror(errno)};
  }
}

std::string receive(int socket, std::size_t most, const Patience& patience) {
  std::string bytes(most, '\0');
  for (;;) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got > 0) return bytes.substr(0, static_cast<std::size_t>(got));
    if (got == 0 || errno == ECONNRESET) throw LinkBroken{"closed the connection", true};
    if (errno != EAGAIN && errno != EINTR) throw LinkBroken{std::strerror(errno)};
    wait_for(socket, POLLIN, patience);
  }
}

void send_all(int socket, std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN || errno == EINTR)
      wait_for(socket, POLLOUT, patience);
    else if (errno == EPIPE || errno == ECONNRESET)
      throw LinkBroken{"closed the connection", true};
    else
      throw LinkBroken{std::strerror(errno)};
  }
}

/// Not open: `error` says why.
UniqueFd connect_to(const addrinfo& where, const Patience& patience, std::string& error) {
  UniqueFd socket{::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (socket.is_open() && ::connect(socket.get(), where.ai_addr, where.ai_addrlen) == 0) return socket;
  if (!socket.is_open() || errno != EINPROGRESS) {
    error = std::strerror(errno);
    return {};
  }
  try {
    wait_for(socket.get(), POLLOUT, patience);
  } catch (const LinkBroken&) {
    error = "no answer";
    return {};
  }
  int result = 0;
  socklen_t length = sizeof result;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &result, &length);
  if (result == 0) return socket;
  error = std::strerror(result);
  return {};
}

UniqueFd connect_to(const LinkAddress& address, const Patience& at_most) {
  const Addresses found = look_up(address, AI_ADDRCONFIG);
  const Patience patience = within(kConnectWithin, at_most);
  std::string error = "no address";
  for (const addrinfo* where = found.get(); where != nullptr; where = where->ai_next)
    if (UniqueFd socket = connect_to(*where, patience, error); socket.is_open()) return socket;
  throw InputError(fmt::format("cannot connect: {}; expected a `replay agent` that listens there", error));
}

/// The agent closed the connection before its first message.
class NoPlaceAtTheDoor : public InputError {
 public:
  using InputError::InputError;
};

/// The daemon's side of the handshake; returns when the agent has answered.
protocol::Handshake shake_hands(int socket, const LinkTarget& link, const Patience& at_most) {
  protocol::Handshake handshake{protocol::LinkRole::kDaemon, link.key, new_nonce(), link.session};
  bool has_agent_spoken = false;
  try {
    Patience patience = within(kAnswerWithin, at_most);
    send_all(socket, handshake.greeting(), patience);
    while (handshake.wanted() > 0) {
      const std::string proof = handshake.feed(receive(socket, handshake.wanted(), patience));
      if (proof.empty()) continue;
      has_agent_spoken = true;
      patience = within(kAnswerWithin, at_most);
      send_all(socket, proof, patience);
    }
  } catch (const LinkBroken& broken) {
    if (has_agent_spoken)
      throw InputError(
          fmt::format("{} during the handshake: wrong key: give both sides the same key file", broken.how));
    if (!broken.is_closed)
      throw InputError(fmt::format("{} during the handshake: is there a `replay agent` at all?", broken.how));
    throw NoPlaceAtTheDoor(
        fmt::format("{} during the handshake: is there a `replay agent` at all, or are too many strangers at its door?",
                    broken.how));
  } catch (const protocol::ProtocolError& error) {
    throw InputError(fmt::format("handshake: {}", error.what()));
  }
  return handshake;
}

/// A connection on which the agent has answered.
std::pair<UniqueFd, protocol::Handshake> knock(const LinkTarget& link, const Patience& patience) {
  for (int tries = 1;; ++tries) {
    try {
      UniqueFd stream = connect_to(link.address, patience);
      send_without_delay(stream.get());
      protocol::Handshake handshake = shake_hands(stream.get(), link, patience);
      return {std::move(stream), std::move(handshake)};
    } catch (const NoPlaceAtTheDoor&) {
      if (tries == kMostTries) throw;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

/// Reads one frame and nothing behind it.
protocol::AgentReport receive_report(int socket, protocol::FrameDecoder& decoder, const Patience& patience) {
  std::optional<protocol::Frame> frame;
  while (!(frame = decoder.next())) decoder.feed(receive(socket, decoder.wanted(), patience));
  protocol::AgentReport report = protocol::decode_report(*frame);
  if (const auto* farewell = std::get_if<protocol::Farewell>(&report)) throw InputError(farewell->reason);
  return report;
}

protocol::Hello receive_hello(int socket, protocol::FrameDecoder& decoder, const Patience& at_most) {
  try {
    const protocol::AgentReport report = receive_report(socket, decoder, within(kAgentHelloWithin, at_most));
    if (const auto* hello = std::get_if<protocol::Hello>(&report)) return *hello;
    throw InputError("expected its Hello, found another report");
  } catch (const LinkBroken& broken) {
    throw InputError(fmt::format("{} before its Hello: its own output says why", broken.how));
  }
}

protocol::LinkSession new_session(milliseconds lease) {
  protocol::LinkSession session{.lease_ms = static_cast<std::uint32_t>(lease.count())};
  const protocol::LinkNonce random = new_nonce();
  std::ranges::copy_n(random.begin(), std::ssize(session.id), session.id.begin());
  return session;
}

AgentLink connect(const LinkTarget& wanted, const Patience& patience) {
  AgentLink link;
  auto [stream, handshake] = knock(wanted, patience);
  if (handshake.answer() == protocol::LinkAnswer::kBusy)
    throw AgentIsBusy(
        fmt::format("{}: serves another daemon, or still has its jobs; an agent serves one at a time", wanted.name));
  static_cast<LinkTarget&>(link) = wanted;
  link.address = peer_address(stream.get());
  link.stream = std::move(stream);
  link.stays = handshake.answer() == protocol::LinkAnswer::kServedStays;
  const protocol::LinkSeals seals = handshake.seals();
  link.decoder = protocol::FrameDecoder{seals.receiving};
  link.writer = std::make_unique<LinkWriter>(link.stream.get(), seals.sending, protocol::Ping{wanted.session.received});
  link.hello = receive_hello(link.stream.get(), link.decoder, patience);
  return link;
}

}  // namespace

LinkAddress LinkAddress::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = [text] {
    return InputError(fmt::format("address '{}': expected HOST:PORT, such as 127.0.0.1:40123 or [::1]:40123", text));
  };
  if (colon == std::string_view::npos) throw bad();
  const std::string_view port = text.substr(colon + 1);
  LinkAddress address;
  const auto number = parse_number<decltype(address.port)>(port);
  if (!number) throw bad();
  address.port = *number;
  std::string_view host = text.substr(0, colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!has_brackets && host.find_first_of(":[]") != std::string_view::npos)) throw bad();
  address.host = host;
  return address;
}

std::string LinkAddress::to_text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

UniqueFd listen_on(const LinkAddress& address) {
  const Addresses found = look_up(address, AI_PASSIVE);
  UniqueFd socket{::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const int yes = 1;
  if (!socket.is_open() || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket.get(), kBacklog) != 0)
    throw InputError(fmt::format("cannot listen on {}: {}", address.to_text(), std::strerror(errno)));
  return socket;
}

LinkAddress own_address(int socket) { return address_of(socket, ::getsockname); }
LinkAddress peer_address(int socket) { return address_of(socket, ::getpeername); }

void send_without_delay(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // fails on a socket that has no delay anyway
}

AgentLink& AgentLink::operator=(AgentLink&& other) {
  close();  // the writer goes before its stream
  static_cast<LinkTarget&>(*this) = std::move(other);
  stream = std::move(other.stream);
  decoder = std::move(other.decoder);
  writer = std::move(other.writer);
  hello = std::move(other.hello);
  stays = other.stays;
  is_gone = other.is_gone;
  return *this;
}

void AgentLink::end() {
  if (writer) writer->send(protocol::encode(protocol::AgentOrder{protocol::Goodbye{}}));
  close();
}

void AgentLink::close() {
  writer.reset();
  stream.reset();
}

AgentLink connect_agent(const LinkAddress& address, const protocol::LinkKey& key, milliseconds lease,
                        milliseconds patience) {
  const LinkTarget wanted{fmt::format("agent {}", address.to_text()), address, key, new_session(lease)};
  const auto deadline = Clock::now() + patience;
  for (;;) {
    try {
      return connect(wanted, {Clock::time_point::max()});
    } catch (const AgentIsBusy&) {
      if (Clock::now() >= deadline) throw;
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", wanted.name, error.what()));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::optional<std::string> CheckedNode::clock_note(bool is_one_of_several) const {
  constexpr std::chrono::microseconds kMost = 2'000ms;
  const std::chrono::microseconds turn{node.turn_us}, apart = std::chrono::abs(ahead);
  const bool are_turns_apart = is_one_of_several && turn > 0ms && apart - within > turn;
  if (apart - within <= kMost && !are_turns_apart) return std::nullopt;
  const auto seconds = [](std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); };
  return fmt::format(
      "its clock is {:.{}f} s {} this one's (within {:.1g} s){}", seconds(apart), apart >= 1s ? 1 : 3,
      ahead > 0ms ? "ahead of" : "behind", seconds(within),
      are_turns_apart ? "; jobs that span hosts and share cores have their turns there at other times" : "");
}

CheckedNode check_node(AgentLink& link, const protocol::CheckNode& order) {
  const auto patience = within(kCheckedWithin, {Clock::time_point::max()});
  const auto sent = Clock::now();
  const auto sent_at = std::chrono::system_clock::now().time_since_epoch();
  link.writer->send(protocol::encode(protocol::AgentOrder{order}));
  try {
    for (;;) {
      protocol::AgentReport report = receive_report(link.stream.get(), link.decoder, patience);
      auto* node = std::get_if<protocol::NodeChecked>(&report);
      if (node == nullptr) continue;  // a heartbeat
      const auto half = std::chrono::duration_cast<std::chrono::microseconds>((Clock::now() - sent) / 2);
      const auto ours = std::chrono::duration_cast<std::chrono::microseconds>(sent_at) + half;
      const std::chrono::microseconds ahead = std::chrono::microseconds{node->clock_us} - ours;
      return {std::move(*node), ahead, half};
    }
  } catch (const LinkBroken& broken) {
    throw InputError(fmt::format("{} when asked for files and programs of its node", broken.how));
  } catch (const protocol::ProtocolError& error) {
    throw InputError(error.what());
  }
}

AgentLink mend_link(const LinkTarget& cut, Clock::time_point until, int cancel) {
  for (;;) {
    try {
      return connect(cut, {std::min(until, Clock::now() + kOneTryToMend), cancel});
    } catch (const AgentIsBusy&) {
      throw InputError("the agent there has started anew: its jobs are gone");
    } catch (const InputError&) {
      if (Clock::now() >= until)
        throw InputError(
            fmt::format("it could not be mended within the lease of {:g} s", cut.session.lease_ms / 1000.0));
    }
    pollfd cancelled{cancel, POLLIN, 0};
    if (::poll(&cancelled, 1, static_cast<int>(kBetweenTries.count())) > 0)
      throw InputError("it is not mended any more");
  }
}

AgentLink rejoin_agent(const LinkTarget& lost, int cancel) {
  LinkTarget wanted = lost;
  wanted.session = new_session(lost.lease());
  return connect(wanted, {Clock::now() + kAgentHelloWithin, cancel});
}

bool is_listened_at(const LinkAddress& address) {
  try {
    return connect_to(address, {Clock::now() + 2s}).is_open();
  } catch (const InputError&) {
    return false;
  }
}

DaemonStream dial_agent(const LinkTarget& target, Clock::time_point until, int cancel) {
  try {
    auto [stream, handshake] = knock(target, {until, cancel});
    if (handshake.answer() != protocol::LinkAnswer::kResumed) throw InputError("it serves no daemon");
    return {std::move(stream), handshake.seals(), 0};
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", target.name, error.what()));
  }
}

}  // namespace replay::launcher
