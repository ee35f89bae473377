// A frame is one message on a stream: 8 bytes of header (payload length u32, type u16, version u16, little-endian), then
// the payload. The decoder takes the stream in whatever pieces it arrives. A bad frame cannot be skipped, because its
// length may be the lie; the connection it came from is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replay::protocol {

inline constexpr std::uint16_t kProtocolVersion = 2;
inline constexpr std::size_t kFrameHeaderBytes = 8;
inline constexpr std::size_t kMostPayloadBytes = std::size_t{16} << 20U;

struct Frame {
  std::uint16_t type = 0;
  std::string payload;
  bool operator==(const Frame&) const = default;
};

/// The bytes of one frame of this version. Throws ProtocolError when the payload is larger than kMostPayloadBytes.
[[nodiscard]] std::string encode_frame(std::uint16_t type, std::string_view payload);

/// Bytes of a stream in, frames out, in order.
class FrameDecoder {
 public:
  void feed(std::string_view bytes);
  /// The next complete frame; nothing: more bytes are needed. Throws ProtocolError on a version or length that cannot be,
  /// and goes on throwing it: after an error the stream is of no use.
  [[nodiscard]] std::optional<Frame> next();
  /// Bytes of an incomplete frame. Not zero at the end of a stream: it was cut off.
  [[nodiscard]] std::size_t pending() const { return buffer_.size() - used_; }

 private:
  std::string buffer_;
  std::size_t used_ = 0;  // bytes at the front of buffer_ that were handed out already
};

}  // namespace replay::protocol
