// Fuzz target of what replay-proxy says to the agent, and of what one agent says to another about a proxy that has ended:
// arbitrary bytes are read or refused with ProtocolError, and each message has one form only.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "launcher/mpich/proxy_desk.hpp"
#include "launcher/mpich/proxy_message.hpp"
#include "launcher/mpich/sealed_relay.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

using namespace launcher;

std::string payload_of(const ProxyCall& call) {
  protocol::ByteWriter bytes;
  bytes.put_text(call.token);
  bytes.put_text(call.host);
  bytes.put(static_cast<std::uint32_t>(call.arguments.size()));
  for (const std::string& word : call.arguments) bytes.put_text(word);
  return bytes.bytes();
}

void hear_call(std::string_view bytes) {
  protocol::FrameDecoder decoder;
  decoder.feed(bytes);
  while (const auto frame = decoder.next()) {
    const ProxyCall call = decode_proxy_call(*frame);
    check(frame->type == kProxyCallType && payload_of(call) == frame->payload);
    check(std::ranges::find(call.arguments, "--proxy-id") != call.arguments.end());
  }
}

void hear_end(std::string_view bytes) {
  const ProxyEnd end = decode_proxy_end(bytes);
  check(decode_proxy_end(encode(end)).ranks == end.ranks);
  check(encode(end) == bytes.substr(0, encode(end).size()) || end.reason.size() > 1000);  // a long reason is cut
}

}  // namespace

void proxies(std::string_view bytes) {
  if (bytes.empty()) return;
  try {
    bytes.front() == 'c' ? hear_call(bytes.substr(1)) : hear_end(bytes.substr(1));
  } catch (const protocol::ProtocolError&) {
  }
}

}  // namespace replay::fuzz
