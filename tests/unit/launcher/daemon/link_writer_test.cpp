// Tests of the daemon's writer over a network: it sends Ping by itself from the start, frames of several threads arrive
// whole and in the order in which they were sealed, and the other side cannot keep it from ending.
#include "launcher/daemon/link_writer.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "scheduler/protocol/agent_messages.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

protocol::SealKey seal_key() {
  protocol::SealKey key;
  key.fill(3);
  return key;
}

class TheLinkWriter : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = UniqueFd{ends[0]};
    theirs_ = UniqueFd{ends[1]};
  }

  /// Reads the next order at the other end.
  protocol::AgentOrder hear() {
    for (;;) {
      if (const auto frame = decoder_.next()) return protocol::decode_order(*frame);
      pollfd readable{theirs_.get(), POLLIN, 0};
      if (::poll(&readable, 1, 20'000) <= 0) throw std::runtime_error("nothing came");
      char bytes[4096];
      const ssize_t got = ::recv(theirs_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) throw std::runtime_error("closed");
      decoder_.feed({bytes, static_cast<std::size_t>(got)});
    }
  }

  UniqueFd ours_;
  UniqueFd theirs_;
  protocol::FrameDecoder decoder_{seal_key()};
};

TEST_F(TheLinkWriter, SaysPingFromTheBeginningAndAgainAndAgain) {
  const LinkWriter writer{ours_.get(), seal_key(), {}, 5ms};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hear(), protocol::AgentOrder{protocol::Ping{}});
}

TEST_F(TheLinkWriter, FramesOfSeveralThreadsArriveWholeAndEachThreadsInOrder) {
  constexpr std::int64_t kThreads = 4;
  constexpr std::int64_t kFrames = 600;  // enough for a change of the key
  LinkWriter writer{ours_.get(), seal_key(), {}, 1ms};
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&writer, thread] {
      for (std::int64_t i = 0; i < kFrames; ++i)
        writer.send(protocol::encode(protocol::AgentOrder{protocol::SuspendJob{JobId{thread * kFrames + i}}}));
    });
  std::map<std::int64_t, std::int64_t> heard;
  for (std::int64_t count = 0; count < kThreads * kFrames;) {
    const protocol::AgentOrder order = hear();
    const auto* suspend = std::get_if<protocol::SuspendJob>(&order);
    if (suspend == nullptr) continue;  // a Ping
    const auto number = static_cast<std::int64_t>(suspend->job);
    EXPECT_EQ(number % kFrames, heard[number / kFrames]++);
    ++count;
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TheLinkWriter, WhatTheSocketDoesNotTakeAtOnceFollows) {
  LinkWriter writer{ours_.get(), seal_key(), {}};
  const protocol::AgentOrder large =
      protocol::LaunchJob{JobId{1}, {std::string(4'000'000, 'x')}, {}, "/", {0}, true, 0};
  writer.send(protocol::encode(large));
  writer.send(protocol::encode(protocol::AgentOrder{protocol::Goodbye{}}));
  std::vector<protocol::AgentOrder> orders;
  while (orders.empty() || !std::holds_alternative<protocol::Goodbye>(orders.back())) orders.push_back(hear());
  std::erase(orders, protocol::AgentOrder{protocol::Ping{}});
  EXPECT_EQ(orders, (std::vector<protocol::AgentOrder>{large, protocol::Goodbye{}}));
}

TEST_F(TheLinkWriter, EndsWhileNobodyReads) {
  LinkWriter writer{ours_.get(), seal_key(), {}, 1ms};
  writer.send(protocol::encode_frame(1, std::string(4'000'000, 'x')));
}

TEST_F(TheLinkWriter, ABrokenConnectionEndsNothingElse) {
  LinkWriter writer{ours_.get(), seal_key(), {}, 1ms};
  theirs_.reset();
  for (int i = 0; i < 10; ++i) writer.send(protocol::encode(protocol::AgentOrder{protocol::Ping{}}));
}

}  // namespace
}  // namespace replay::launcher
