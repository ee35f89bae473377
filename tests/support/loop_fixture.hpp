// A fixture with an event loop and two ends of a stream.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <string>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::test {

class LoopTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }
  void write(const std::string& bytes) {
    ASSERT_EQ(::send(theirs_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// Until the loop is broken off, and at most this long.
  void run(std::chrono::milliseconds limit = std::chrono::seconds{20}) {
    LoopEvent end{loop_.get(), -1, 0, [this] { stop_loop(); }};
    end.arm_after(limit);
    event_base_dispatch(loop_.get());
  }
  void stop_loop() { event_base_loopbreak(loop_.get()); }

  EventBase loop_{event_base_new()};
  UniqueFd ours_;
  UniqueFd theirs_;
};

}  // namespace replay::test
