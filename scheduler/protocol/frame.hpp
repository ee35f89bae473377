// A frame is one message on a stream: 16 bytes of header (payload length u32, type u16, version u16, number u64,
// little-endian), then the payload. The decoder takes the stream in pieces of any size, plain or sealed (seal.hpp). A bad frame cannot
// be skipped, because its length may be what is wrong; the connection it came from is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/protocol/seal.hpp"

namespace replay::protocol {

inline constexpr std::uint16_t kProtocolVersion = 7;
inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::size_t kMostPayloadBytes = std::size_t{16} << 20U;

struct Frame {
  std::uint16_t type = 0;
  std::string payload;
  std::uint64_t number = 0;  ///< its place among those of its side in the session (session.hpp); 0: it has none
  bool operator==(const Frame&) const = default;
};

/// The bytes of one frame of this version. Throws ProtocolError when the payload is larger than kMostPayloadBytes.
[[nodiscard]] std::string encode_frame(std::uint16_t type, std::string_view payload, std::uint64_t number = 0);

/// Seals the frames of one direction of a connection with a key: a frame's header and its payload are a sealed piece
/// each (an empty payload is none), so that a length is used only if it was written with the key. Changes its key with
/// every 1024th frame, and after 16 MiB.
class FrameSealer {
 public:
  explicit FrameSealer(const SealKey& key) : seal_(key) {}
  /// `frame` is one whole frame of encode_frame. The bytes for the stream; those of the first frame begin with the
  /// stream's header.
  [[nodiscard]] std::string seal(std::string_view frame);

  static constexpr std::uint64_t kFramesPerKey = 1024;
  static constexpr std::size_t kBytesPerKey = std::size_t{16} << 20U;

 private:
  Seal seal_;
  std::uint64_t frames_ = 0;
  std::size_t bytes_of_key_ = 0;
};

/// Bytes of a stream in, frames out, in order.
class FrameDecoder {
 public:
  /// For a stream that only the two sides can reach: plain frames.
  FrameDecoder() = default;
  /// For a stream of FrameSealer with the same key.
  explicit FrameDecoder(const SealKey& key) : opener_(key) {}

  void feed(std::string_view bytes);
  /// The next complete frame; nothing: more bytes are needed. Throws ProtocolError on an impossible version or length,
  /// and on a piece that is not the next one that was sealed; after an error every call throws it again.
  [[nodiscard]] std::optional<Frame> next();
  /// After next() returned nothing: at least so many more bytes are needed. Reading no more than that leaves what
  /// follows the frame in the socket.
  [[nodiscard]] std::size_t wanted() const;
  /// Bytes of an incomplete frame. Not zero at the end of a stream: it was cut off.
  [[nodiscard]] std::size_t pending() const { return begun_ + buffer_.size() - used_; }

 private:
  struct Header {
    std::size_t length = 0;
    std::uint16_t type = 0;
    std::uint64_t number = 0;
  };

  [[nodiscard]] std::optional<Frame> take_frame();
  [[nodiscard]] std::size_t next_piece_bytes() const;
  [[nodiscard]] std::optional<std::string> take_piece();
  [[nodiscard]] static Header read_header(std::string_view bytes);

  std::optional<SealOpener> opener_;  // none: plain frames
  std::string buffer_;
  std::size_t used_ = 0;          // bytes at the front of buffer_ that were handed out already
  std::optional<Header> header_;  // of a frame that still lacks its payload
  std::size_t begun_ = 0;         // bytes of that header on the stream
  std::uint64_t frames_ = 0;      // handed out
  std::string error_;
};

}  // namespace replay::protocol
