#include "scheduler/protocol/frame.hpp"

#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {

std::string encode_frame(std::uint16_t type, std::string_view payload) {
  if (payload.size() > kMostPayloadBytes)
    throw ProtocolError(
        fmt::format("a message of {} bytes: at most {} can be sent", payload.size(), kMostPayloadBytes));
  ByteWriter header;
  header.put(static_cast<std::uint32_t>(payload.size()));
  header.put(type);
  header.put(kProtocolVersion);
  return header.bytes() + std::string{payload};
}

void FrameDecoder::feed(std::string_view bytes) {
  buffer_.erase(0, used_);
  used_ = 0;
  buffer_.append(bytes);
}

std::optional<Frame> FrameDecoder::next() {
  if (pending() < kFrameHeaderBytes) return std::nullopt;
  const std::string_view rest = std::string_view{buffer_}.substr(used_);
  ByteReader header{rest.substr(0, kFrameHeaderBytes)};
  const auto length = header.take<std::uint32_t>("frame length");
  const auto type = header.take<std::uint16_t>("frame type");
  const auto version = header.take<std::uint16_t>("frame version");
  if (version != kProtocolVersion)
    throw ProtocolError(fmt::format("frame version: expected {}, found {}", kProtocolVersion, version));
  if (length > kMostPayloadBytes)
    throw ProtocolError(fmt::format("frame length: expected at most {}, found {}", kMostPayloadBytes, length));
  if (rest.size() < kFrameHeaderBytes + length) return std::nullopt;
  used_ += kFrameHeaderBytes + length;
  return Frame{type, std::string{rest.substr(kFrameHeaderBytes, length)}};
}

}  // namespace replay::protocol
