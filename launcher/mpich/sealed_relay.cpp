#include "launcher/mpich/sealed_relay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <utility>

#include "scheduler/protocol/bytes.hpp"

namespace replay::launcher {
namespace {

enum FrameType : std::uint16_t { kData = 1, kNoMore = 2, kEnded = 3, kOpen = 4, kFailing = 5 };

constexpr std::size_t kMostOfAFrame = std::size_t{64} << 10U;  // a read brings 16 KB, and a reason is a line

UniqueFd non_blocking(UniqueFd stream) {
  ::fcntl(stream.get(), F_SETFL, ::fcntl(stream.get(), F_GETFL) | O_NONBLOCK);
  return stream;
}

}  // namespace

std::string encode(const ProxyEnd& end) {
  protocol::ByteWriter bytes;
  bytes.put(end.finalized);
  bytes.put(end.ranks);
  bytes.put_text(end.reason.substr(0, kMostOfAFrame / 2));
  return bytes.bytes();
}

ProxyEnd decode_proxy_end(std::string_view payload) {
  protocol::ByteReader reader{payload};
  ProxyEnd end;
  end.finalized = reader.take<std::uint32_t>("ranks finalized");
  end.ranks = reader.take<std::uint32_t>("ranks");
  end.reason = reader.take_text("reason");
  reader.expect_end();
  return end;
}

SealedRelay::SealedRelay(event_base* loop, UniqueFd local, UniqueFd sealed, protocol::FrameSealer sealer,
                         protocol::FrameDecoder decoder, Callbacks callbacks)
    : local_stream_(non_blocking(std::move(local))),
      sealed_stream_(non_blocking(std::move(sealed))),
      sealer_(std::move(sealer)),
      decoder_(std::move(decoder)),
      callbacks_(std::move(callbacks)),
      local_(loop, local_stream_.get(), local_side_),
      sealed_(loop, sealed_stream_.get(), sealed_side_) {
  local_.read();
  sealed_.read();
}

// ---- from the local stream to the other agent -----------------------------------------------------------------------

void SealedRelay::open(const std::vector<std::string>& words) {
  protocol::ByteWriter bytes;
  bytes.put(static_cast<std::uint32_t>(words.size()));
  for (const std::string& word : words) bytes.put_text(word);
  send(kOpen, bytes.bytes());
}

void SealedRelay::seal_bytes() {
  send(kData, local_.unread());
  local_.drop(local_.unread().size());
  if (sealed_.waiting() > kMostWaiting) local_.pause_reading();
}

void SealedRelay::on_sealed_written() {
  if (local_sends_) local_.read();
}

void SealedRelay::on_local_end(Connection::End end) {
  if (end == Connection::End::kTakesNoMore) {
    local_takes_ = false;
    return settle();
  }
  local_sends_ = false;
  own_end_ ? send(kEnded, encode(*own_end_)) : send(kNoMore, "");
}

void SealedRelay::warn(const std::string& reason) {
  if (!own_end_ && !std::exchange(is_failing_, true)) send(kFailing, reason.substr(0, kMostOfAFrame / 2));
}

/// Of a socket that is shut down for reading, what has come before is still read, and then the end.
void SealedRelay::drain(const ProxyEnd& end) {
  own_end_ = end;
  if (local_sends_)
    ::shutdown(local_stream_.get(), SHUT_RD);
  else
    send(kEnded, encode(end));
}

void SealedRelay::send(std::uint16_t type, std::string_view payload) {
  sealed_.send(sealer_.seal(protocol::encode_frame(type, payload)));
}

// ---- from the other agent to the local stream -----------------------------------------------------------------------

void SealedRelay::open_frames() {
  try {
    decoder_.feed(sealed_.unread());
    sealed_.drop(sealed_.unread().size());
    while (const auto frame = decoder_.next()) take(*frame);
    if (decoder_.wanted() > kMostOfAFrame) throw protocol::ProtocolError("a frame is too large");
  } catch (const protocol::ProtocolError& error) {
    return lose(error.what());
  }
  settle();
}

void SealedRelay::take(const protocol::Frame& frame) {
  if (frame.type == kEnded && !their_end_) {
    their_end_ = decode_proxy_end(frame.payload);
    they_send_ = false;
  } else if (frame.type == kData && they_send_) {
    if (local_takes_) local_.send(frame.payload);
  } else if (frame.type == kOpen && callbacks_.on_opened && !std::exchange(is_open_, true)) {
    protocol::ByteReader reader{frame.payload};
    std::vector<std::string> words(reader.take_count(sizeof(std::uint32_t), "words"));
    for (std::string& word : words) word = reader.take_text("word");
    reader.expect_end();
    callbacks_.on_opened(words);
  } else if (frame.type == kFailing && callbacks_.on_failing && !their_end_ && !std::exchange(is_failing_, true)) {
    callbacks_.on_failing(frame.payload);
  } else if (frame.type == kNoMore && they_send_) {
    they_send_ = false;
  } else {
    throw protocol::ProtocolError(fmt::format("frame of type {} is not expected", frame.type));
  }
}

/// What follows when the local stream has taken some or all.
void SealedRelay::settle() {
  if (local_takes_ && local_.waiting() > 0) {
    if (local_.waiting() > kMostWaiting) sealed_.pause_reading();
    return;
  }
  if (their_end_) {
    ::shutdown(local_stream_.get(), SHUT_RDWR);
    return stop().on_ended(ProxyEnd{*their_end_});
  }
  if (!they_send_) ::shutdown(local_stream_.get(), SHUT_WR);
  sealed_.read();
}

void SealedRelay::on_sealed_end() {
  if (their_end_) return sealed_.pause_reading();  // the local stream has not taken all yet
  if (!own_end_ || local_sends_ || sealed_.waiting() > 0) return lose("the stream to the other agent was closed");
  stop().on_delivered();
}

void SealedRelay::lose(const std::string& reason) {
  ::shutdown(local_stream_.get(), SHUT_RDWR);
  stop().on_lost(reason);
}

/// The callbacks, of which one is called: it may destroy this.
SealedRelay::Callbacks SealedRelay::stop() {
  local_.stop();
  sealed_.stop();
  return std::move(callbacks_);
}

}  // namespace replay::launcher
