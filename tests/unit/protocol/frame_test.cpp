// Tests of frames and messages: they are decoded as encoded, and any other bytes are refused.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/protocol/agent_messages.hpp"
#include "scheduler/protocol/bytes.hpp"

namespace replay::protocol {
namespace {

Frame only_frame(const std::string& bytes) {
  FrameDecoder decoder;
  decoder.feed(bytes);
  const std::optional<Frame> frame = decoder.next();
  EXPECT_TRUE(frame.has_value());
  EXPECT_EQ(decoder.pending(), 0U);
  return frame.value_or(Frame{});
}

std::vector<AgentOrder> all_orders() {
  return {LaunchJob{JobId{7},
                    {"./phases", "--runtime", "2 s"},
                    {{"A", ""}, {"B", "x\ny=z"}},
                    "/tmp/jobs/7",
                    {0, 2, 2, 5},
                    false,
                    123456789012,
                    "/home/a b",
                    {{"PATH", "/bin"}, {"EMPTY", ""}},
                    {},
                    0,
                    "",
                    true},
          MoveRanks{JobId{-1}, {3}},
          SuspendJob{JobId{1}},
          ResumeJob{JobId{INT64_MAX}},
          EndJob{JobId{2}, Outcome::kOverrun},
          Goodbye{},
          AskStatistics{JobId{7}},
          Ping{},
          SlowDown{JobId{7}, 1.25},
          CheckNode{"/runs/first/word", {"./phases", "cg"}}};
}

std::vector<AgentReport> all_reports() {
  return {Hello{kProtocolVersion, 4711, {0, 2, 3}, true, 3, "n1", 7},
          JobStarted{JobId{7}, true, ""},
          RanksMoved{JobId{7}},
          JobSuspended{JobId{7}},
          JobResumed{JobId{7}},
          JobMeasured{JobId{7}, 0.875},
          JobEnded{JobId{7}, JobEnd{Outcome::kFailed, 9, Verification::kPassed, -1, "rank 1: Killed (signal 9)"}, true},
          OrderFailed{JobId{7}, "resize", "the job is rigid"},
          Heartbeat{},
          JobStatistics{
              JobId{7}, 5'000'000'000, "progress", "token", {RankStatistics{4711, 1, 2, 3, 4, 5, 6}, RankStatistics{}}},
          Farewell{"the daemon has not been heard of for 30 s"},
          JobNoted{JobId{7}, "rank 1 was not on its core"},
          NodeChecked{1'795'772'000'000'001, "4f", "", {"cg"}, "MPICH 4.0.2", "ab", {"a note"}, 40'000},
          JobBegun{JobId{7}}};
}

TEST(AgentMessages, EveryOrderComesBackAsItWasSent) {
  const auto orders = all_orders();
  ASSERT_EQ(orders.size(), std::variant_size_v<AgentOrder>);
  for (const AgentOrder& order : orders) EXPECT_EQ(decode_order(only_frame(encode(order))), order) << order.index();
}

TEST(AgentMessages, EveryReportComesBackAsItWasSent) {
  const auto reports = all_reports();
  ASSERT_EQ(reports.size(), std::variant_size_v<AgentReport>);
  for (const AgentReport& report : reports)
    EXPECT_EQ(decode_report(only_frame(encode(report))), report) << report.index();
}

TEST(AgentMessages, TheBytesAreThoseOfTheDocument) {
  const std::string expected{
      "\x14\0\0\0\x02\0\x07\0"  // 20 bytes follow, type 2 (MoveRanks), version 7
      "\x03\0\0\0\0\0\0\0"      // the session's third order
      "\x2a\0\0\0\0\0\0\0"      // job 42
      "\x02\0\0\0"              // 2 ranks
      "\x01\0\0\0\x01\0\0\0",   // both on hardware thread 1
      36};
  EXPECT_EQ(encode(MoveRanks{JobId{42}, {1, 1}}, 3), expected);
}

TEST(AgentMessages, APayloadCutAnywhereIsRefused) {
  for (const AgentOrder& order : all_orders()) {
    const Frame whole = only_frame(encode(order));
    for (std::size_t length = 0; length < whole.payload.size(); ++length)
      EXPECT_THROW((void)decode_order({whole.type, whole.payload.substr(0, length)}), ProtocolError) << length;
  }
  for (const AgentReport& report : all_reports()) {
    const Frame whole = only_frame(encode(report));
    for (std::size_t length = 0; length < whole.payload.size(); ++length)
      EXPECT_THROW((void)decode_report({whole.type, whole.payload.substr(0, length)}), ProtocolError) << length;
  }
}

TEST(AgentMessages, BytesBehindTheMessageAreRefused) {
  for (const AgentOrder& order : all_orders()) {
    Frame frame = only_frame(encode(order));
    frame.payload += '\0';
    EXPECT_THROW((void)decode_order(frame), ProtocolError) << order.index();
  }
}

TEST(AgentMessages, AnOrderIsNoReport) {
  EXPECT_THROW((void)decode_report(only_frame(encode(SuspendJob{JobId{1}}))), ProtocolError);
  EXPECT_THROW((void)decode_order(only_frame(encode(RanksMoved{JobId{1}}))), ProtocolError);
  EXPECT_THROW((void)decode_order({0, ""}), ProtocolError);
  EXPECT_THROW((void)decode_order({999, ""}), ProtocolError);
}

TEST(AgentMessages, ValuesOutOfRangeAreRefused) {
  const auto with = [](const AgentOrder& order, std::size_t at, char value) {
    Frame frame = only_frame(encode(order));
    frame.payload[at] = value;
    return frame;
  };
  EXPECT_THROW((void)decode_order(with(EndJob{JobId{1}, Outcome::kKilled}, 8, 17)), ProtocolError);  // outcome
  EXPECT_THROW((void)decode_order(with(MoveRanks{JobId{1}, {4}}, 15, '\x80')), ProtocolError);       // core < 0
  EXPECT_THROW((void)decode_order(with(MoveRanks{JobId{1}, {4}}, 11, '\x7f')), ProtocolError);       // huge count
  EXPECT_THROW((void)decode_order(only_frame(encode(MoveRanks{JobId{1}, {}}))), ProtocolError);      // no rank
  EXPECT_THROW((void)decode_order(only_frame(encode(LaunchJob{JobId{1}, {}, {}, "", {0}, true}))), ProtocolError);
  EXPECT_THROW((void)decode_order(only_frame(encode(LaunchJob{JobId{1}, {"a"}, {}, "", {0}, true, 0, "not/absolute"}))),
               ProtocolError);
  EXPECT_THROW((void)decode_report(only_frame(encode(JobMeasured{JobId{1}, std::nan("")}))), ProtocolError);
}

TEST(AgentMessages, NoCorruptedByteCrashesTheDecoder) {
  std::mt19937_64 chance{42};
  for (const AgentOrder& order : all_orders()) {
    const Frame whole = only_frame(encode(order));
    for (int i = 0; i < 2000 && !whole.payload.empty(); ++i) {
      Frame bad = whole;
      for (int hits = 0; hits < 3; ++hits) bad.payload[chance() % bad.payload.size()] = static_cast<char>(chance());
      try {
        (void)decode_order(bad);
      } catch (const ProtocolError&) {
      }
    }
  }
}

TEST(FrameDecoder, TakesAStreamInAnyPieces) {
  std::string stream;
  for (const AgentReport& report : all_reports()) stream += encode(report);
  for (std::size_t piece = 1; piece < 40; ++piece) {
    FrameDecoder decoder;
    std::vector<AgentReport> seen;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.feed(std::string_view{stream}.substr(at, piece));
      while (const auto frame = decoder.next()) seen.push_back(decode_report(*frame));
    }
    EXPECT_EQ(seen, all_reports()) << "in pieces of " << piece;
    EXPECT_EQ(decoder.pending(), 0U);
  }
}

TEST(FrameDecoder, ACutStreamLeavesBytesPending) {
  FrameDecoder decoder;
  decoder.feed(encode(RanksMoved{JobId{1}}).substr(0, 10));
  EXPECT_FALSE(decoder.next().has_value());
  EXPECT_EQ(decoder.pending(), 10U);
}

TEST(FrameDecoder, AnotherVersionIsRefused) {
  FrameDecoder decoder;
  decoder.feed(std::string{"\0\0\0\0\x01\0\x03\0", 8} + std::string(8, '\0'));
  EXPECT_THROW((void)decoder.next(), ProtocolError);
  EXPECT_THROW((void)decoder.next(), ProtocolError);
}

TEST(FrameDecoder, ALengthBeyondTheLimitIsRefusedBeforeItsBytesArrive) {
  FrameDecoder decoder;
  decoder.feed(std::string{"\xff\xff\xff\xff\x01\0\x07\0", 8} + std::string(8, '\0'));
  EXPECT_THROW((void)decoder.next(), ProtocolError);
  EXPECT_THROW((void)encode_frame(1, std::string(kMostPayloadBytes + 1, 'x')), ProtocolError);
}

}  // namespace
}  // namespace replay::protocol
