// Tests of a connection: what its owner is told, and what is written. Of a descriptor with a deadline.
#include "scheduler/base/loop/connection.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/loop/read_deadline.hpp"
#include "tests/support/loop_fixture.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using End = Connection::End;

class ConnectionTest : public test::LoopTest, public Connection::Owner {
 protected:
  void SetUp() override {
    test::LoopTest::SetUp();
    connection_ = std::make_unique<Connection>(loop_.get(), ours_.get(), *this);
    connection_->read();
  }
  void on_bytes() override {
    heard_ += connection_->unread();
    connection_->drop(connection_->unread().size());
    if (heard_.ends_with('.')) stop_loop();
  }
  void on_written() override {
    ++times_written_;
    stop_loop();
  }
  void on_end(End end) override {
    ends_.push_back(end);
    if (!keeps_after_end_) connection_.reset();
    stop_loop();
  }
  std::string take() {
    std::string bytes(1 << 20, '\0');
    const ssize_t got = ::recv(theirs_.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    return bytes;
  }

  std::unique_ptr<Connection> connection_;
  std::string heard_;
  int times_written_ = 0;
  std::vector<End> ends_;
  bool keeps_after_end_ = false;
};

TEST_F(ConnectionTest, WhatComesIsUnreadUntilItIsDropped) {
  write("one");
  LoopEvent rest{loop_.get(), -1, 0, [this] { write(" two."); }};
  rest.arm_after(5ms);
  run();
  EXPECT_EQ(heard_, "one two.");
  EXPECT_TRUE(connection_->unread().empty());
}

TEST_F(ConnectionTest, WhilePausedNothingComesAndAfterwardsAllOfIt) {
  connection_->pause_reading();
  write("late.");
  run(20ms);
  EXPECT_EQ(heard_, "");
  connection_->read();
  run();
  EXPECT_EQ(heard_, "late.");
}

TEST_F(ConnectionTest, ThePeersEndIsToldAndTheConnectionMayGoWithIt) {
  ::shutdown(theirs_.get(), SHUT_WR);
  run();
  EXPECT_EQ(ends_, std::vector<End>{End::kSendsNoMore});
}

TEST_F(ConnectionTest, WhatWaitsIsCountedAndTheOwnerIsToldWhenTheKernelHasIt) {
  connection_->send("some");
  connection_->send(std::make_shared<const std::string>(" more"));
  EXPECT_EQ(connection_->waiting(), 9U);
  run();
  EXPECT_EQ(times_written_, 1);
  EXPECT_EQ(connection_->waiting(), 0U);
  EXPECT_EQ(take(), "some more");
}

TEST_F(ConnectionTest, APeerThatTakesNothingFailsAfterTheTimeOfAStall) {
  connection_->drop_if_stalled(30ms);
  connection_->send(std::string(std::size_t{4} << 20, 'x'));
  run();
  EXPECT_EQ(ends_, std::vector<End>{End::kFailed});
}

TEST_F(ConnectionTest, OfAPeerThatHasGoneTheFailedWriteIsToldAndWhatItSaidCanStillBeRead) {
  ::signal(SIGPIPE, SIG_IGN);
  connection_->pause_reading();
  write("last words.");
  theirs_.reset();
  connection_->send("unheard");
  keeps_after_end_ = true;
  run();
  EXPECT_EQ(ends_, std::vector<End>{End::kTakesNoMore});
  connection_->read();
  run();
  EXPECT_EQ(heard_, "last words.");
}

TEST_F(ConnectionTest, TheDeadlineComesOnceUnlessItIsCleared) {
  connection_->set_deadline(5ms);
  connection_->clear_deadline();
  run(20ms);
  EXPECT_TRUE(ends_.empty());
  connection_->set_deadline(5ms);
  run();
  EXPECT_EQ(ends_, std::vector<End>{End::kLate});
}

TEST_F(ConnectionTest, AfterTheLastBytesNothingComesAndNothingIsWritten) {
  write("unheard.");
  connection_->send("good night");
  connection_->set_deadline(5ms);
  connection_->write_last_bytes();
  connection_->stop();
  connection_->send("unsaid");
  run(20ms);
  EXPECT_EQ(take(), "good night");
  EXPECT_EQ(heard_, "");
  EXPECT_TRUE(ends_.empty());
}

using ReadDeadlineTest = test::LoopTest;

TEST_F(ReadDeadlineTest, WhoSpeaksInTimeIsReadAndAfterTheLimitItIsTooLate) {
  std::string events;
  std::unique_ptr<ReadDeadline> waiting;
  const auto readable = [&] {
    char byte = 0;
    EXPECT_EQ(::recv(ours_.get(), &byte, 1, 0), 1);
    events += byte;
  };
  waiting = std::make_unique<ReadDeadline>(loop_.get(), ours_.get(), 50ms, readable, [&] {
    events += " late";
    waiting.reset();
    stop_loop();
  });
  write("ab");
  run();
  write("c");
  run(20ms);
  EXPECT_EQ(events, "ab late");
}

}  // namespace
}  // namespace replay
