#include "scheduler/protocol/frame.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {

std::string encode_frame(std::uint16_t type, std::string_view payload, std::uint64_t number) {
  if (payload.size() > kMostPayloadBytes)
    throw ProtocolError(
        fmt::format("a message of {} bytes: at most {} can be sent", payload.size(), kMostPayloadBytes));
  ByteWriter header;
  header.put(static_cast<std::uint32_t>(payload.size()));
  header.put(type);
  header.put(kProtocolVersion);
  header.put(number);
  return header.bytes() + std::string{payload};
}

std::string FrameSealer::seal(std::string_view frame) {
  INVARIANT(frame.size() >= kFrameHeaderBytes, "a frame of {} bytes", frame.size());
  std::string bytes = frames_++ == 0 ? seal_.header() : std::string{};
  bytes_of_key_ += frame.size();
  const bool is_due = frames_ % kFramesPerKey == 0 || bytes_of_key_ >= kBytesPerKey;
  if (is_due) bytes_of_key_ = 0;
  const std::string_view payload = frame.substr(kFrameHeaderBytes);
  bytes += seal_.seal(frame.substr(0, kFrameHeaderBytes), is_due && payload.empty());
  if (!payload.empty()) bytes += seal_.seal(payload, is_due);
  return bytes;
}

void FrameDecoder::feed(std::string_view bytes) {
  buffer_.erase(0, used_);
  used_ = 0;
  buffer_.append(bytes);
}

std::optional<Frame> FrameDecoder::next() {
  if (!error_.empty()) throw ProtocolError(error_);
  try {
    return take_frame();
  } catch (const ProtocolError& error) {
    error_ = error.what();
    throw;
  }
}

std::optional<Frame> FrameDecoder::take_frame() {
  if (opener_ && !opener_->has_begun()) {
    const auto header = take_piece();
    if (!header) return std::nullopt;
    opener_->begin(*header);
  }
  if (!header_) {
    const std::size_t before = used_;
    const auto header = take_piece();
    if (!header) return std::nullopt;
    begun_ = used_ - before;
    header_ = read_header(*header);
  }
  const bool has_payload_piece = header_->length > 0;
  auto payload = has_payload_piece ? take_piece() : std::string{};
  if (!payload) return std::nullopt;
  ++frames_;
  begun_ = 0;
  const Header header = *std::exchange(header_, std::nullopt);
  return Frame{header.type, *std::move(payload), header.number};
}

/// Its size on the stream, with the tag if it is sealed.
std::size_t FrameDecoder::next_piece_bytes() const {
  if (opener_ && !opener_->has_begun()) return kSealHeaderBytes;
  const std::size_t bytes = header_ ? header_->length : kFrameHeaderBytes;
  return opener_ ? bytes + kSealTagBytes : bytes;
}

std::size_t FrameDecoder::wanted() const {
  const std::size_t there = buffer_.size() - used_;
  return next_piece_bytes() - std::min(there, next_piece_bytes());
}

std::optional<std::string> FrameDecoder::take_piece() {
  const std::size_t bytes = next_piece_bytes();
  if (buffer_.size() - used_ < bytes) return std::nullopt;
  const std::string_view piece = std::string_view{buffer_}.substr(used_, bytes);
  used_ += bytes;
  if (!opener_ || !opener_->has_begun()) return std::string{piece};
  auto opened = opener_->open(piece);
  if (!opened)
    throw ProtocolError(fmt::format(
        "frame {} is not the one that was sent: it was changed, dropped, repeated, reordered or made up on its way",
        frames_ + 1));
  return opened;
}

FrameDecoder::Header FrameDecoder::read_header(std::string_view bytes) {
  ByteReader in{bytes};
  const auto length = in.take<std::uint32_t>("frame length");
  const auto type = in.take<std::uint16_t>("frame type");
  const auto version = in.take<std::uint16_t>("frame version");
  if (version != kProtocolVersion)
    throw ProtocolError(fmt::format("frame version: expected {}, found {}", kProtocolVersion, version));
  if (length > kMostPayloadBytes)
    throw ProtocolError(fmt::format("frame length: expected at most {}, found {}", kMostPayloadBytes, length));
  return {length, type, in.take<std::uint64_t>("frame number")};
}

}  // namespace replay::protocol
