// Who may give orders: both sides with one key get through, in whatever pieces the bytes come; any other key, role,
// version, nonce or byte does not.
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

Handshake daemon(std::uint8_t nonce = 1, const LinkKey& key = kKey) {
  return {LinkRole::kDaemon, key, nonce_of(nonce)};
}
Handshake agent(std::uint8_t nonce = 2, const LinkKey& key = kKey) { return {LinkRole::kAgent, key, nonce_of(nonce)}; }

/// Why `handshake` refuses `bytes`; empty: it does not.
std::string refusal(Handshake& handshake, const std::string& bytes) {
  try {
    (void)handshake.feed(bytes);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return {};
}

std::string with_byte(std::string message, std::size_t at, char value) {
  message.at(at) = value;
  return message;
}

TEST(Handshake, BothSidesWithOneKeyGetThrough) {
  Handshake d = daemon();
  Handshake a = agent();
  EXPECT_EQ(a.feed(d.opening()), "");
  const std::string proof = d.feed(a.opening());
  EXPECT_EQ(proof.size(), kProofBytes);
  EXPECT_FALSE(a.is_proved());
  EXPECT_EQ(a.feed(proof), "");
  EXPECT_TRUE(a.is_proved());
  EXPECT_FALSE(d.is_proved());
  EXPECT_EQ(d.feed(a.answer(LinkAnswer::kServedStays)), "");
  EXPECT_TRUE(d.is_proved());
  EXPECT_EQ(d.answer(), LinkAnswer::kServedStays);
}

TEST(Handshake, TakesItsMessagesInAnyPieces) {
  Handshake d = daemon();
  Handshake a = agent();
  std::string proof;
  for (const char byte : a.opening()) proof += d.feed(std::string(1, byte));
  for (const char byte : d.opening() + proof) EXPECT_EQ(a.feed(std::string(1, byte)), "");
  ASSERT_TRUE(a.is_proved());
  for (const char byte : a.answer(LinkAnswer::kBusy)) EXPECT_EQ(d.feed(std::string(1, byte)), "");
  EXPECT_TRUE(d.is_proved());
}

TEST(Handshake, SaysHowManyBytesItWantsAndNoneOnceItIsOver) {
  Handshake d = daemon();
  Handshake a = agent();
  EXPECT_EQ(a.wanted(), kOpeningBytes);
  (void)a.feed(d.opening().substr(0, 10));
  EXPECT_EQ(a.wanted(), kOpeningBytes - 10);
  (void)a.feed(d.opening().substr(10));
  EXPECT_EQ(a.wanted(), kProofBytes);
  (void)a.feed(d.feed(a.opening()));
  EXPECT_EQ(a.wanted(), 0U);
  EXPECT_EQ(d.wanted(), kAnswerBytes);
  (void)d.feed(a.answer(LinkAnswer::kServed));
  EXPECT_EQ(d.wanted(), 0U);
}

TEST(Handshake, ADaemonWithAnotherKeyIsRefused) {
  Handshake d = daemon(1, key_of(8));
  Handshake a = agent();
  (void)a.feed(d.opening());
  EXPECT_EQ(refusal(a, d.feed(a.opening())), "wrong key");
  EXPECT_FALSE(a.is_proved());
}

TEST(Handshake, AnAgentWithAnotherKeyIsRefused) {
  // It lets everybody in, and answers with the key that it has.
  Handshake d = daemon();
  Handshake friend_of_rogue = daemon(1, key_of(8));
  Handshake rogue = agent(2, key_of(8));
  (void)rogue.feed(d.opening());
  (void)d.feed(rogue.opening());
  (void)rogue.feed(friend_of_rogue.feed(rogue.opening()));
  ASSERT_TRUE(rogue.is_proved());
  EXPECT_EQ(refusal(d, rogue.answer(LinkAnswer::kServed)), "wrong key");
}

TEST(Handshake, AReplayedConversationIsRefused) {
  Handshake d = daemon();
  Handshake a = agent();
  (void)a.feed(d.opening());
  const std::string proof = d.feed(a.opening());
  (void)a.feed(proof);
  const std::string answer = a.answer(LinkAnswer::kServed);

  Handshake later_agent = agent(3);
  (void)later_agent.feed(d.opening());
  EXPECT_EQ(refusal(later_agent, proof), "wrong key");
  Handshake later_daemon = daemon(4);
  (void)later_daemon.feed(a.opening());
  EXPECT_EQ(refusal(later_daemon, answer), "wrong key");
}

TEST(Handshake, AReflectedOpeningIsRefused) {
  Handshake d = daemon();
  EXPECT_EQ(refusal(d, d.opening()), "role: expected an agent, found a daemon");
  Handshake a = agent();
  EXPECT_EQ(refusal(a, with_byte(a.opening(), 12, 1)),
            "nonce: expected one of the other side's own, found ours sent back");
}

TEST(Handshake, AReflectedProofIsRefused) {
  Handshake d = daemon();
  Handshake a = agent();
  const std::string proof = d.feed(a.opening());
  for (const char answer : {'\0', '\1', '\2', '\xff'}) {
    Handshake again = daemon();
    (void)again.feed(a.opening());
    EXPECT_EQ(refusal(again, answer + proof), "wrong key");
  }
}

TEST(Handshake, TheWrongRoleIsRefused) {
  Handshake a = agent();
  EXPECT_EQ(refusal(a, agent(9).opening()), "role: expected a daemon, found an agent");
  Handshake b = agent();
  EXPECT_EQ(refusal(b, with_byte(daemon().opening(), 12, 3)),
            "role: expected a daemon, found neither agent nor daemon");
}

TEST(Handshake, AnotherVersionIsNamed) {
  Handshake a = agent();
  EXPECT_EQ(refusal(a, with_byte(daemon().opening(), 8, 9)), "link version: expected 1, found 9");
  Handshake b = agent();
  EXPECT_EQ(refusal(b, with_byte(daemon().opening(), 11, 1)).substr(0, 28), "protocol version: expected 2");
}

TEST(Handshake, SomethingElseThatConnectsIsRefused) {
  Handshake a = agent();
  EXPECT_EQ(
      refusal(a, std::string{"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: anything"}.substr(0, kOpeningBytes)),
      "opening: expected that of a replay link, found other bytes");
}

TEST(Handshake, ATruncatedMessageProvesNothing) {
  Handshake d = daemon();
  Handshake a = agent();
  (void)a.feed(d.opening());
  const std::string proof = d.feed(a.opening());
  (void)a.feed(proof.substr(0, kProofBytes - 1));
  EXPECT_FALSE(a.is_proved());
  EXPECT_EQ(a.wanted(), 1U);
}

TEST(Handshake, EveryByteOfEveryMessageCounts) {
  for (std::size_t at = 0; at < kOpeningBytes + kProofBytes; ++at) {
    Handshake d = daemon();
    Handshake a = agent();
    const std::string opening = d.opening();
    const std::string proof = d.feed(a.opening());
    std::string said = opening + proof;
    said[at] = static_cast<char>(said[at] ^ 1);
    std::string refused = refusal(a, said.substr(0, kOpeningBytes));
    if (refused.empty()) refused = refusal(a, said.substr(kOpeningBytes));
    EXPECT_NE(refused, "") << "byte " << at << " of the daemon's";
    EXPECT_FALSE(a.is_proved());
  }
  for (std::size_t at = 0; at < kOpeningBytes + kAnswerBytes; ++at) {
    Handshake d = daemon();
    Handshake a = agent();
    (void)a.feed(d.opening());
    Handshake witness = daemon();
    (void)a.feed(witness.feed(a.opening()));
    std::string said = a.opening() + a.answer(LinkAnswer::kServed);
    said[at] = static_cast<char>(said[at] ^ 1);
    std::string refused = refusal(d, said.substr(0, kOpeningBytes));
    if (refused.empty()) refused = refusal(d, said.substr(kOpeningBytes));
    EXPECT_NE(refused, "") << "byte " << at << " of the agent's";
    EXPECT_FALSE(d.is_proved());
  }
}

TEST(Handshake, StaysFailedOnceItHasFailed) {
  Handshake a = agent();
  (void)refusal(a, agent(9).opening());
  EXPECT_EQ(a.wanted(), 0U);
  EXPECT_EQ(refusal(a, daemon().opening()), "the handshake has failed before");
}

// The proofs were computed with another program: HMAC-SHA-512 of role, answer and both openings, its first 32 bytes.
TEST(Handshake, TheBytesAreThoseOfTheDocument) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
  };
  EXPECT_EQ(daemon().opening(), (std::string{"RPLAY-LK\x01\0\x02\0\x01\0\0\0", 16} + std::string(32, '\x01')));
  Handshake d = daemon();
  Handshake a = agent();
  const std::string proof = d.feed(a.opening());
  EXPECT_EQ(hex(proof), "b0f1c4f83df8ef5ca3ae80417b6c57d315e8dfee1e84fefc5391cd9f612b8d5f");
  (void)a.feed(d.opening());
  (void)a.feed(proof);
  EXPECT_EQ(hex(a.answer(LinkAnswer::kServed)),
            "00"
            "3f739bb9f31429bb6dff3631abf8bfd91692f93c263cc957850035e7db034e76");
}

}  // namespace
}  // namespace replay::protocol
