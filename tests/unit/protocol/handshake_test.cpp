// Tests of the handshake: two sides with one key succeed, in whatever pieces the bytes come; any other key, role,
// version, nonce or byte fails.
#include "scheduler/protocol/handshake.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

LinkKey key_of(std::uint8_t byte) {
  LinkKey key;
  key.fill(byte);
  return key;
}
LinkNonce nonce_of(std::uint8_t byte) {
  LinkNonce nonce;
  nonce.fill(byte);
  return nonce;
}

const LinkKey kKey = key_of(7);

const LinkSession kSession{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, LinkPurpose::kGoesOn, 30'000, 5};
constexpr std::size_t kWholeProofBytes = kSessionBytes + kProofBytes;

Handshake daemon(std::uint8_t nonce = 1, const LinkKey& key = kKey) {
  return {LinkRole::kDaemon, key, nonce_of(nonce), kSession};
}
Handshake agent(std::uint8_t nonce = 2, const LinkKey& key = kKey) { return {LinkRole::kAgent, key, nonce_of(nonce)}; }

/// The reason for which `handshake` refuses `bytes`; empty if it accepts them.
std::string refusal(Handshake& handshake, const std::string& bytes) {
  try {
    (void)handshake.feed(bytes);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return {};
}

/// Feeds the number of bytes that are wanted, each time.
std::string feed_all(Handshake& listener, std::string_view bytes) {
  std::string replies;
  while (!bytes.empty()) {
    const std::size_t length = std::min(listener.wanted(), bytes.size());
    if (length == 0) throw ProtocolError("more bytes than are wanted");
    replies += listener.feed(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return replies;
}
std::string refusal_of_all(Handshake& listener, std::string_view bytes) {
  try {
    (void)feed_all(listener, bytes);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return {};
}

/// The daemon greets, and the agent answers with its opening.
std::string meet(Handshake& a, const Handshake& d) { return feed_all(a, d.greeting()); }

std::string with_byte(std::string message, std::size_t at, char value) {
  message.at(at) = value;
  return message;
}

TEST(Handshake, BothSidesWithOneKeyGetThrough) {
  Handshake d = daemon();
  Handshake a = agent();
  EXPECT_EQ(a.greeting(), "") << "it speaks when it is spoken to";
  const std::string opening = meet(a, d);
  EXPECT_EQ(opening.size(), kOpeningBytes);
  EXPECT_TRUE(a.is_expected());
  const std::string proof = d.feed(opening);
  EXPECT_EQ(proof.size(), kWholeProofBytes);
  EXPECT_FALSE(a.is_proved());
  EXPECT_EQ(a.feed(proof), "");
  EXPECT_TRUE(a.is_proved());
  EXPECT_EQ(a.session(), kSession);
  EXPECT_FALSE(d.is_proved());
  EXPECT_EQ(d.feed(a.answer(LinkAnswer::kServedStays)), "");
  EXPECT_TRUE(d.is_proved());
  EXPECT_EQ(d.answer(), LinkAnswer::kServedStays);
}

TEST(Handshake, TakesItsMessagesInAnyPieces) {
  Handshake d = daemon();
  Handshake a = agent();
  std::string opening;
  for (const char byte : d.greeting()) opening += a.feed(std::string(1, byte));
  std::string proof;
  for (const char byte : opening) proof += d.feed(std::string(1, byte));
  for (const char byte : proof) EXPECT_EQ(a.feed(std::string(1, byte)), "");
  ASSERT_TRUE(a.is_proved());
  for (const char byte : a.answer(LinkAnswer::kBusy)) EXPECT_EQ(d.feed(std::string(1, byte)), "");
  EXPECT_TRUE(d.is_proved());
}

TEST(Handshake, SaysHowManyBytesItWantsAndNoneOnceItIsOver) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string greeting = d.greeting();
  ASSERT_EQ(greeting.size(), kGreetingBytes);
  EXPECT_EQ(a.wanted(), kOpeningBytes);
  (void)a.feed(greeting.substr(0, 10));
  EXPECT_EQ(a.wanted(), kOpeningBytes - 10);
  (void)a.feed(greeting.substr(10, kOpeningBytes - 10));
  EXPECT_EQ(a.wanted(), kProofBytes) << "the tag of the greeting";
  const std::string opening = a.feed(greeting.substr(kOpeningBytes));
  EXPECT_EQ(a.wanted(), kWholeProofBytes);
  (void)a.feed(d.feed(opening));
  EXPECT_EQ(a.wanted(), 0U);
  EXPECT_EQ(d.wanted(), kAnswerBytes);
  (void)d.feed(a.answer(LinkAnswer::kServed));
  EXPECT_EQ(d.wanted(), 0U);
}

TEST(Handshake, ADaemonWithAnotherKeyIsRefusedAndLearnsThatAnAgentIsThere) {
  Handshake d = daemon(1, key_of(8));
  Handshake a = agent();
  EXPECT_EQ(refusal_of_all(a, d.greeting()), "wrong key");
  EXPECT_FALSE(a.is_expected());
  EXPECT_EQ(a.parting().size(), kOpeningBytes);
}

TEST(Handshake, ARightGreetingWithAWrongProofIsRefused) {
  Handshake d = daemon();
  Handshake a = agent();
  std::string proof = d.feed(meet(a, d));
  proof[0] = static_cast<char>(proof[0] ^ 1);
  EXPECT_EQ(refusal(a, proof), "wrong key");
  EXPECT_EQ(a.parting(), "");
}

TEST(Handshake, AnAgentWithAnotherKeyIsRefused) {
  // The rogue agent accepts every daemon, and answers with its own key.
  Handshake d = daemon();
  Handshake friend_of_rogue = daemon(1, key_of(8));
  Handshake rogue = agent(2, key_of(8));
  const std::string opening = meet(rogue, friend_of_rogue);
  (void)d.feed(opening);
  (void)rogue.feed(friend_of_rogue.feed(opening));
  ASSERT_TRUE(rogue.is_proved());
  EXPECT_EQ(refusal(d, rogue.answer(LinkAnswer::kServed)), "wrong key");
}

TEST(Handshake, AReplayedConversationIsRefused) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string opening = meet(a, d);
  const std::string proof = d.feed(opening);
  (void)a.feed(proof);
  const std::string answer = a.answer(LinkAnswer::kServed);

  Handshake later_agent = agent(3);
  (void)meet(later_agent, d);  // the greeting itself can be repeated: the door remembers earlier greetings
  EXPECT_TRUE(later_agent.is_expected());
  EXPECT_EQ(refusal(later_agent, proof), "wrong key");
  Handshake later_daemon = daemon(4);
  (void)later_daemon.feed(opening);
  EXPECT_EQ(refusal(later_daemon, answer), "wrong key");
}

TEST(Handshake, AReflectedOpeningIsRefused) {
  Handshake d = daemon();
  EXPECT_EQ(refusal(d, d.greeting().substr(0, kOpeningBytes)), "role: expected an agent, found a daemon");
  Handshake a = agent();
  Handshake twin = daemon(2);  // with the agent's own nonce
  EXPECT_EQ(refusal(a, twin.greeting().substr(0, kOpeningBytes)),
            "nonce: expected one of the other side's own, found ours sent back");
}

TEST(Handshake, AReflectedProofIsRefused) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string opening = meet(a, d);
  const std::string proof = d.feed(opening);
  for (const char answer : {'\0', '\1', '\2', '\xff'}) {
    Handshake again = daemon();
    (void)again.feed(opening);
    EXPECT_EQ(refusal(again, answer + proof.substr(kSessionBytes)), "wrong key");
  }
}

TEST(Handshake, TheTagOfAGreetingIsNoProofAndTheProofNoTag) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string tag = d.greeting().substr(kOpeningBytes);
  const std::string proof = d.feed(meet(a, d));
  EXPECT_EQ(refusal(a, proof.substr(0, kSessionBytes) + tag), "wrong key");
  Handshake b = agent();
  EXPECT_EQ(refusal_of_all(b, d.greeting().substr(0, kOpeningBytes) + proof.substr(kSessionBytes)), "wrong key");
}

TEST(Handshake, TheWrongRoleIsRefused) {
  Handshake a = agent();
  Handshake d = daemon();
  Handshake other = agent(9);
  const std::string opening_of_an_agent = meet(other, d);
  EXPECT_EQ(refusal(a, opening_of_an_agent), "role: expected a daemon, found an agent");
  Handshake b = agent();
  EXPECT_EQ(refusal(b, with_byte(d.greeting().substr(0, kOpeningBytes), 12, 3)),
            "role: expected a daemon, found neither agent nor daemon");
}

// The opening of the first version: the same opening with link version 1, without later parts; the agent sent its own
// at once.
std::string opening_of_version_1(LinkRole role) {
  std::string opening = daemon(5).greeting().substr(0, kOpeningBytes);
  opening[8] = 1;
  opening[10] = 2;
  opening[12] = static_cast<char>(role);
  return opening;
}

TEST(Handshake, AnAgentNamesTheUnprotectedVersionOfADaemonAndTellsItsOwn) {
  Handshake a = agent();
  EXPECT_EQ(
      refusal(a, opening_of_version_1(LinkRole::kDaemon)),
      "link version: expected 3 (encrypted frames), found 1 (frames without protection); both sides must be of one "
      "release");
  ASSERT_EQ(a.parting().size(), kOpeningBytes);
  EXPECT_EQ(a.parting().substr(0, 12), (std::string{"RPLAY-LK\x03\0\x07\0", 12})) << "the old one reads: found 3";
}

TEST(Handshake, ADaemonNamesTheUnprotectedVersionOfAnAgent) {
  Handshake d = daemon();
  EXPECT_EQ(
      refusal(d, opening_of_version_1(LinkRole::kAgent)),
      "link version: expected 3 (encrypted frames), found 1 (frames without protection); both sides must be of one "
      "release");
}

TEST(Handshake, AnotherVersionIsNamed) {
  const std::string opening = daemon().greeting().substr(0, kOpeningBytes);
  Handshake a = agent();
  EXPECT_EQ(refusal(a, with_byte(opening, 8, 9)),
            "link version: expected 3 (encrypted frames), found 9; both sides must be of one release");
  Handshake b = agent();
  EXPECT_EQ(refusal(b, with_byte(opening, 11, 1)).substr(0, 28), "protocol version: expected 7");
}

TEST(Handshake, SomethingElseThatConnectsIsRefusedAndLearnsNothing) {
  Handshake a = agent();
  EXPECT_EQ(
      refusal(a, std::string{"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: anything"}.substr(0, kOpeningBytes)),
      "opening: expected that of a replay link, found other bytes");
  EXPECT_EQ(a.parting(), "");
}

TEST(Handshake, ATruncatedMessageProvesNothing) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string proof = d.feed(meet(a, d));
  (void)a.feed(proof.substr(0, kWholeProofBytes - 1));
  EXPECT_FALSE(a.is_proved());
  EXPECT_EQ(a.wanted(), 1U);
}

TEST(Handshake, EveryByteOfEveryMessageCounts) {
  for (std::size_t at = 0; at < kGreetingBytes + kWholeProofBytes; ++at) {
    Handshake d = daemon();
    Handshake witness = agent();
    const std::string proof = d.feed(meet(witness, d));
    std::string said = d.greeting() + proof;
    said[at] = static_cast<char>(said[at] ^ 1);
    Handshake a = agent();
    EXPECT_NE(refusal_of_all(a, said), "") << "byte " << at << " of the daemon's";
    EXPECT_FALSE(a.is_proved());
  }
  for (std::size_t at = 0; at < kOpeningBytes + kAnswerBytes; ++at) {
    Handshake d = daemon();
    Handshake a = agent();
    Handshake witness = daemon();
    const std::string opening = meet(a, witness);
    (void)a.feed(witness.feed(opening));
    std::string said = opening + a.answer(LinkAnswer::kServed);
    said[at] = static_cast<char>(said[at] ^ 1);
    EXPECT_NE(refusal_of_all(d, said), "") << "byte " << at << " of the agent's";
    EXPECT_FALSE(d.is_proved());
  }
}

TEST(Handshake, StaysFailedOnceItHasFailed) {
  Handshake a = agent();
  (void)refusal(a, std::string(kOpeningBytes, 'x'));
  EXPECT_EQ(a.wanted(), 0U);
  EXPECT_EQ(refusal(a, daemon().greeting()), "the handshake has failed before");
}

/// The keys of both sides at the end.
std::pair<LinkSeals, LinkSeals> seals_of(Handshake d, Handshake a) {
  (void)a.feed(d.feed(meet(a, d)));
  (void)d.feed(a.answer(LinkAnswer::kServed));
  return {d.seals(), a.seals()};
}

TEST(Handshake, EachDirectionOfEachConnectionHasItsOwnKey) {
  const auto [d, a] = seals_of(daemon(), agent());
  EXPECT_EQ(d.sending, a.receiving);
  EXPECT_EQ(d.receiving, a.sending);
  EXPECT_NE(d.sending, d.receiving);
  EXPECT_NE(d.sending, kKey);
  const auto with_another_daemon = seals_of(daemon(3), agent()).first;
  const auto with_another_agent = seals_of(daemon(), agent(3)).first;
  const auto with_another_key = seals_of(daemon(1, key_of(8)), agent(2, key_of(8))).first;
  for (const LinkSeals& other : {with_another_daemon, with_another_agent, with_another_key}) {
    EXPECT_NE(other.sending, d.sending);
    EXPECT_NE(other.receiving, d.receiving);
  }
}

template <typename Bytes>
std::string hex_of(const Bytes& bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Tags and keys were computed with another program (Python's hmac and hashlib, and ChaCha20 and Poly1305 from their RFC).
TEST(Handshake, TheBytesAreThoseOfTheDocument) {
  Handshake d = daemon();
  Handshake a = agent();
  EXPECT_EQ(d.greeting().substr(0, kOpeningBytes),
            (std::string{"RPLAY-LK\x03\0\x07\0\x01\0\0\0", 16} + std::string(32, '\x01')));
  EXPECT_EQ(hex_of(d.greeting().substr(kOpeningBytes)),
            "324955876bb78e9e7d6d842176d67149db7578181bf56aa5a616c0656cd6cd92");
  const std::string proof = d.feed(meet(a, d));
  EXPECT_EQ(hex_of(proof),
            "0102030405060708090a0b0c0d0e0f10"
            "01"
            "30750000"
            "0500000000000000"
            "d7f67e42c4cf7309bb874ec3355dd4178f4c7d618fa62c0d5e46cab9036a8e37");
  (void)a.feed(proof);
  const std::string answer = a.answer(LinkAnswer::kServed);
  EXPECT_EQ(hex_of(answer), "00e8f79aa8e789d89ebe50c4e730062d204bfc9eeb2f4e3341e7d42c751ddd9d16");
  (void)d.feed(answer);
  EXPECT_EQ(hex_of(d.seals().sending), "8c87de40faa993da387440a67e4463bb97e61f9bbcb96eb5093db3f132f736a0");
  EXPECT_EQ(hex_of(d.seals().receiving), "3c8f85a9b3a914b5f0af4ca20be922db23a0c1a818658cd969f6e0d1e49768b4");

  FrameDecoder decoder{d.seals().sending};
  std::string stream;
  for (const int byte : {0x2f, 0x3b, 0xc6, 0xf5, 0x24, 0x82, 0x82, 0xb6, 0x89, 0xb1, 0x2f, 0x37, 0x7f, 0xf6, 0x18,
                         0x87, 0x64, 0xb4, 0x07, 0x83, 0xb8, 0x61, 0x89, 0xff, 0xa7, 0x35, 0x67, 0xb4, 0xfa, 0x99,
                         0xe7, 0x37, 0xa2, 0x13, 0x95, 0x9c, 0x41, 0xd1, 0x11, 0x86, 0x13, 0x34, 0xb8, 0xba, 0x28,
                         0x7d, 0xbb, 0x12, 0x95, 0xbc, 0xfd, 0x79, 0xed, 0x79, 0x90, 0xbe, 0x4a})
    stream += static_cast<char>(byte);
  decoder.feed(stream);
  EXPECT_EQ(decoder.next(), (Frame{6, ""}));
}

}  // namespace
}  // namespace replay::protocol
