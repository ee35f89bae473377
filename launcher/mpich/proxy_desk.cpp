#include "launcher/mpich/proxy_desk.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "launcher/mpich/proxy_message.hpp"
#include "scheduler/base/process/descriptor_message.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

using std::chrono_literals::operator""ms;
constexpr auto kCallWithin = 5000ms;

bool is_tcp_stream(int fd) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_INET &&
         ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

}  // namespace

ProxyCall decode_proxy_call(const protocol::Frame& frame) {
  if (frame.type != kProxyCallType || frame.number != 0) throw protocol::ProtocolError("no call for a proxy");
  protocol::ByteReader reader{frame.payload};
  ProxyCall call;
  call.token = reader.take_text("token");
  call.host = reader.take_text("host");
  const std::size_t words = reader.take_count(sizeof(std::uint32_t), "words");
  for (std::size_t i = 0; i < words; ++i) call.arguments.push_back(reader.take_text("word"));
  reader.expect_end();
  const auto option = std::ranges::find(call.arguments, "--proxy-id");
  const bool has_value = call.arguments.end() - option > 1;
  const auto id = has_value ? parse_number<std::uint32_t>(option[1]) : std::nullopt;
  if (!id) throw protocol::ProtocolError("a call for a proxy without a number");
  call.proxy_id = *id;
  return call;
}

ProxyDesk::ProxyDesk(event_base* loop, std::filesystem::path socket)
    : desk_(loop, std::move(socket), kCallWithin, listen,
            [this](Said said, const UniqueFd& stream, pid_t) { take(std::move(said), stream); }) {}

void ProxyDesk::expect(const std::string& token, Take take) { takers_[token] = std::move(take); }

/// Reads no further than the end of the frame, which is all that a caller may say.
Heard ProxyDesk::listen(int stream, Said& said) {
  constexpr std::size_t kAtOnce = 4096;
  const std::size_t wanted = said.decoder.wanted();
  if (said.decoder.pending() + wanted > kMostProxyCallBytes) return Heard::kNonsense;
  auto message = receive_with_descriptors(stream, std::min(wanted, kAtOnce));
  if (!message) return errno == EAGAIN || errno == EINTR ? Heard::kPart : Heard::kNonsense;
  std::vector<UniqueFd>& descriptors = message->descriptors;
  if (message->bytes.empty() || descriptors.size() + (said.control.is_open() ? 1U : 0U) > 1) return Heard::kNonsense;
  if (!descriptors.empty()) said.control = std::move(descriptors.front());
  try {
    said.decoder.feed(message->bytes);
    const auto frame = said.decoder.next();
    if (!frame) return Heard::kPart;
    said.call = decode_proxy_call(*frame);
  } catch (const protocol::ProtocolError&) {
    return Heard::kNonsense;
  }
  return is_tcp_stream(said.control.get()) ? Heard::kAll : Heard::kNonsense;
}

void ProxyDesk::take(Said said, const UniqueFd& stream) {
  const auto taker = takers_.find(said.call.token);
  if (taker == takers_.end()) return;
  const Take take = taker->second;  // it may be forgotten by the call
  ::send(stream.get(), &kProxyCallTaken, sizeof kProxyCallTaken, MSG_NOSIGNAL | MSG_DONTWAIT);
  said.call.control = std::move(said.control);
  take(std::move(said.call));
}

}  // namespace replay::launcher
