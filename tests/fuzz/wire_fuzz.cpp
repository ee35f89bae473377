// Fuzz target of frames and messages between daemon and agent: arbitrary bytes are read or refused with ProtocolError,
// and each message has one form only: it is written back as the same bytes.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "tests/fuzz/targets.hpp"

namespace replay::fuzz {
namespace {

using namespace protocol;

/// Whether the frame is such a message.
template <typename Decode>
bool comes_back(const Frame& frame, Decode decode) {
  try {
    const auto message = decode(frame);
    check(encode(message) == encode_frame(frame.type, frame.payload));
    check(decode(frame) == message);
    return true;
  } catch (const ProtocolError&) {
    return false;
  }
}

}  // namespace

void wire(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = static_cast<unsigned char>(bytes.front()) + std::size_t{1};
  bytes.remove_prefix(1);
  FrameDecoder decoder;
  try {
    while (!bytes.empty()) {
      decoder.feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (const std::optional<Frame> frame = decoder.next()) {
        const bool is_order = comes_back(*frame, decode_order);
        const bool is_report = comes_back(*frame, decode_report);
        check(!(is_order && is_report));
      }
      check(decoder.pending() < kFrameHeaderBytes + kMostPayloadBytes);
    }
  } catch (const ProtocolError&) {  // from the decoder: the stream is unusable from here on
    try {
      (void)decoder.next();
      check(false);
    } catch (const ProtocolError&) {
    }
  }
}

}  // namespace replay::fuzz
