// Tests of sealed frames: they are decoded as sealed; and whatever a relay without the key does to the stream (bytes
// changed, frames dropped, repeated, exchanged or forged), no frame is accepted that was not sent as the next one.
#include "scheduler/protocol/seal.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <optional>
#include <string>
#include <vector>

#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

SealKey seal_key(std::uint8_t byte) {
  SealKey key;
  key.fill(byte);
  return key;
}
const SealKey kSealedWith = seal_key(7);

std::vector<AgentOrder> some_orders() {
  return {Ping{}, LaunchJob{JobId{7}, {"./secret-program"}, {{"A", "b"}}, "/tmp/jobs/7", {0, 1}, true, 0},
          EndJob{JobId{7}, Outcome::kKilled}, Ping{}};
}

/// One piece per sealed frame; the stream's header is a piece by itself, in front.
std::vector<std::string> sealed_pieces(const std::vector<AgentOrder>& orders, const SealKey& key = kSealedWith) {
  FrameSealer sealer{key};
  std::vector<std::string> pieces;
  for (const AgentOrder& order : orders) pieces.push_back(sealer.seal(encode(order)));
  const std::string first = pieces.front();
  pieces.front() = first.substr(kSealHeaderBytes);
  pieces.insert(pieces.begin(), first.substr(0, kSealHeaderBytes));
  return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

struct Heard {
  std::vector<AgentOrder> orders;
  std::string refusal;  // empty: the stream ended without an error
};

Heard hear(const std::string& stream, std::size_t piece = 1 << 20, const SealKey& key = kSealedWith) {
  Heard heard;
  FrameDecoder decoder{key};
  try {
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.feed(std::string_view{stream}.substr(at, piece));
      while (const auto frame = decoder.next()) heard.orders.push_back(decode_order(*frame));
    }
  } catch (const ProtocolError& error) {
    heard.refusal = error.what();
  }
  return heard;
}

std::string refusal_of_frame(int number) {
  return fmt::format(
      "frame {} is not the one that was sent: it was changed, dropped, repeated, reordered or made up on its way",
      number);
}

TEST(SealedFrames, ComeBackInAnyPieces) {
  const std::string stream = joined(sealed_pieces(some_orders()));
  for (std::size_t piece = 1; piece < 60; ++piece) {
    const Heard heard = hear(stream, piece);
    EXPECT_EQ(heard.orders, some_orders()) << "in pieces of " << piece;
    EXPECT_EQ(heard.refusal, "");
  }
}

TEST(SealedFrames, CannotBeRead) {
  EXPECT_EQ(joined(sealed_pieces(some_orders())).find("secret-program"), std::string::npos);
  EXPECT_NE(sealed_pieces(some_orders()).at(1), sealed_pieces(some_orders()).at(1)) << "two streams with one key";
}

TEST(SealedFrames, EveryByteCounts) {
  const std::string stream = joined(sealed_pieces(some_orders()));
  for (std::size_t at = 0; at < stream.size(); ++at) {
    std::string changed = stream;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const Heard heard = hear(changed);
    EXPECT_NE(heard.refusal, "") << "byte " << at;
    const std::vector<AgentOrder> sent = some_orders();
    ASSERT_LT(heard.orders.size(), sent.size());
    for (std::size_t i = 0; i < heard.orders.size(); ++i) EXPECT_EQ(heard.orders[i], sent[i]) << "byte " << at;
  }
}

TEST(SealedFrames, AChangedLengthIsRefusedWithItsHeaderAndNotWaitedFor) {
  const std::vector<std::string> pieces = sealed_pieces(some_orders());
  std::string header = pieces[2].substr(0, kFrameHeaderBytes + kSealTagBytes);
  header[3] = static_cast<char>(header[3] ^ 1);  // a byte of the length
  const Heard heard = hear(pieces[0] + pieces[1] + header);
  EXPECT_EQ(heard.orders.size(), 1U);
  EXPECT_EQ(heard.refusal, refusal_of_frame(2));
}

TEST(SealedFrames, ADroppedARepeatedAndAnExchangedFrameAreRefused) {
  const std::vector<std::string> p = sealed_pieces({Ping{}, Ping{}, Ping{}, Ping{}});
  EXPECT_EQ(hear(p[0] + p[1] + p[3] + p[4]).refusal, refusal_of_frame(2)) << "dropped";
  EXPECT_EQ(hear(p[0] + p[1] + p[1] + p[2]).refusal, refusal_of_frame(2)) << "repeated";
  EXPECT_EQ(hear(p[0] + p[2] + p[1] + p[3]).refusal, refusal_of_frame(1)) << "exchanged";
  EXPECT_EQ(hear(p[1] + p[2] + p[3]).refusal, refusal_of_frame(1)) << "without the stream's header";
}

TEST(SealedFrames, AFrameThatWasNotSealedOrWithAnotherKeyIsRefused) {
  const std::vector<std::string> p = sealed_pieces(some_orders());
  const std::string plain = encode(AgentOrder{LaunchJob{JobId{9}, {"/bin/sh"}, {}, "/tmp", {0}, false, 0}});
  EXPECT_EQ(hear(p[0] + plain).refusal, refusal_of_frame(1));
  EXPECT_EQ(hear(p[0] + p[1] + plain + p[2]).refusal, refusal_of_frame(2));
  EXPECT_EQ(hear(joined(sealed_pieces(some_orders(), seal_key(8)))).refusal, refusal_of_frame(1));
  EXPECT_EQ(hear(p[0] + sealed_pieces(some_orders())[1]).refusal, refusal_of_frame(1)) << "of another stream";
}

TEST(SealedFrames, TheDecoderGoesOnRefusing) {
  FrameDecoder decoder{kSealedWith};
  decoder.feed(std::string(kSealHeaderBytes + kFrameHeaderBytes + kSealTagBytes, 'x'));
  EXPECT_THROW((void)decoder.next(), ProtocolError);
  decoder.feed(joined(sealed_pieces(some_orders())));
  EXPECT_THROW((void)decoder.next(), ProtocolError);
}

TEST(SealedFrames, SaysHowMuchItWantsSoThatNothingBehindAFrameIsRead) {
  const std::string stream = joined(sealed_pieces(some_orders()));
  FrameDecoder decoder{kSealedWith};
  std::size_t at = 0;
  for (const AgentOrder& order : some_orders()) {
    std::optional<Frame> frame;
    while (!(frame = decoder.next())) {
      const std::size_t wanted = decoder.wanted();
      ASSERT_GT(wanted, 0U);
      ASSERT_LE(at + wanted, stream.size());
      decoder.feed(std::string_view{stream}.substr(at, wanted));
      at += wanted;
    }
    EXPECT_EQ(decode_order(*frame), order);
    EXPECT_EQ(decoder.pending(), 0U);
  }
  EXPECT_EQ(at, stream.size());
}

/// The frames of `frames` that change the key with their last piece, counted from 1, by libsodium's own reader.
std::vector<std::size_t> frames_that_change_the_key(const std::vector<std::string>& frames) {
  FrameSealer sealer{kSealedWith};
  crypto_secretstream_xchacha20poly1305_state state;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::string sealed = sealer.seal(frames[i]);
    if (i == 0) {
      crypto_secretstream_xchacha20poly1305_init_pull(&state, reinterpret_cast<const unsigned char*>(sealed.data()),
                                                      kSealedWith.data());
      sealed.erase(0, kSealHeaderBytes);
    }
    unsigned char tag = 0;
    for (std::size_t at = 0; at < sealed.size();) {
      const std::size_t size = (at == 0 ? kFrameHeaderBytes : frames[i].size() - kFrameHeaderBytes) + kSealTagBytes;
      std::string piece(size, '\0');
      EXPECT_EQ(crypto_secretstream_xchacha20poly1305_pull(
                    &state, reinterpret_cast<unsigned char*>(piece.data()), nullptr, &tag,
                    reinterpret_cast<const unsigned char*>(sealed.data()) + at, size, nullptr, 0),
                0);
      at += size;
    }
    if (tag == crypto_secretstream_xchacha20poly1305_TAG_REKEY) found.push_back(i + 1);
  }
  return found;
}

TEST(SealedFrames, TheKeyChangesWithEvery1024thFrameAndAfter16MiB) {
  const std::string ping = encode(AgentOrder{Ping{}});
  EXPECT_EQ(frames_that_change_the_key(std::vector<std::string>(2100, ping)), (std::vector<std::size_t>{1024, 2048}));
  const std::string large = encode_frame(1, std::string(kMostPayloadBytes / 2, 'x'));
  EXPECT_EQ(frames_that_change_the_key(std::vector<std::string>(5, large)), (std::vector<std::size_t>{2, 4}));
}

TEST(SealedFrames, ComeBackAcrossChangesOfTheKey) {
  const std::vector<AgentOrder> many(3000, Ping{});
  const Heard heard = hear(joined(sealed_pieces(many)));
  EXPECT_EQ(heard.orders.size(), many.size());
  EXPECT_EQ(heard.refusal, "");
}

}  // namespace
}  // namespace replay::protocol
