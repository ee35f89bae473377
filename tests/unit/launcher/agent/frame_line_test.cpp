// Tests of a connection with frames: what comes as a frame, and what makes the line faulty, silent or closed.
#include "launcher/agent/frame_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/protocol/bytes.hpp"
#include "tests/support/loop_fixture.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

class FrameLineTest : public test::LoopTest {
 protected:
  void begin(std::chrono::milliseconds silence_limit = 0ms) {
    line_ = std::make_unique<FrameLine>(
        loop_.get(), ours_.get(), protocol::FrameDecoder{}, silence_limit, "the peer", "word",
        FrameLine::Callbacks{[this](const protocol::Frame& frame) { hear(frame); }, [this] { note("closed"); },
                             [this](const std::string& why) { note(why); }});
    line_->begin();
  }
  void hear(const protocol::Frame& frame) {
    if (frame.payload == "nonsense") throw protocol::ProtocolError("it is nonsense");
    heard_.push_back(frame.payload);
    if (frame.payload == "enough") line_->stop();
    if (frame.payload == "enough" || frame.payload == "last") stop_loop();
  }
  void note(const std::string& end) {
    ends_.push_back(end);
    line_->stop();
    stop_loop();
  }

  std::vector<std::string> heard_;
  std::vector<std::string> ends_;
  std::unique_ptr<FrameLine> line_;
};

TEST_F(FrameLineTest, FramesComeInOrderHoweverTheBytesAreCut) {
  begin();
  const std::string bytes = protocol::encode_frame(1, "first") + protocol::encode_frame(1, "last");
  write(bytes.substr(0, 11));
  LoopEvent rest{loop_.get(), -1, 0, [&] { write(bytes.substr(11)); }};
  rest.arm_after(5ms);
  run();
  EXPECT_EQ(heard_, (std::vector<std::string>{"first", "last"}));
  EXPECT_TRUE(ends_.empty());
}

TEST_F(FrameLineTest, NothingComesAfterItWasStopped) {
  begin();
  write(protocol::encode_frame(1, "enough") + protocol::encode_frame(1, "late") + std::string(8, '\xff'));
  run();
  theirs_.reset();
  run(20ms);
  EXPECT_EQ(heard_, std::vector<std::string>{"enough"});
  EXPECT_TRUE(ends_.empty());
}

TEST_F(FrameLineTest, AClosedLineSaysSo) {
  begin();
  theirs_.reset();
  run();
  EXPECT_EQ(ends_, std::vector<std::string>{"closed"});
}

TEST_F(FrameLineTest, BytesThatAreNoFrameAreAFault) {
  begin();
  write(std::string(protocol::kFrameHeaderBytes, '\xff'));
  run();
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].rfind("the peer sent no word: ", 0), 0U) << ends_[0];
}

TEST_F(FrameLineTest, AFrameThatMeansNothingIsAFault) {
  begin();
  write(protocol::encode_frame(1, "nonsense"));
  run();
  EXPECT_EQ(ends_, std::vector<std::string>{"the peer sent no word: it is nonsense"});
}

TEST_F(FrameLineTest, APeerThatSaysNothingIsSilentAfterTheLimitAndASecondChance) {
  begin(50ms);
  const auto start = std::chrono::steady_clock::now();
  run();
  EXPECT_EQ(ends_, std::vector<std::string>{"the peer has not been heard of for 0.05 s"});
  EXPECT_GE(std::chrono::steady_clock::now() - start, 240ms);
}

TEST_F(FrameLineTest, APeerThatWasHeldUpTogetherWithUsAndGoesOnLaterIsNotSilent) {
  begin(300ms);
  LoopEvent peer{loop_.get(), -1, 0, [this] { write(protocol::encode_frame(1, "last")); }};
  LoopEvent stop{loop_.get(), -1, 0, [&peer] {
                   std::this_thread::sleep_for(700ms);  // as SIGSTOP and SIGCONT
                   peer.arm_after(350ms);
                 }};
  stop.arm_after(0ms);
  run();
  EXPECT_EQ(heard_, std::vector<std::string>{"last"});
  EXPECT_TRUE(ends_.empty());
}

TEST_F(FrameLineTest, OnlyWholeFramesCountAsASignOfLife) {
  begin(50ms);
  const std::string frame = protocol::encode_frame(1, "slow");
  std::size_t sent = 0;
  LoopEvent drip{loop_.get(), -1, EV_PERSIST, [&] {
                   if (sent + 1 < frame.size())  // the last byte never comes
                     write(frame.substr(sent++, 1));
                 }};
  drip.arm_after(30ms);
  run();
  EXPECT_EQ(ends_, std::vector<std::string>{"the peer has not been heard of for 0.05 s"});
}

TEST_F(FrameLineTest, TheLastBytesLeaveAtOnce) {
  begin();
  line_->send("good night");
  line_->write_last_bytes();
  line_->stop();
  std::string bytes(64, '\0');
  const ssize_t got = ::recv(theirs_.get(), bytes.data(), bytes.size(), 0);
  ASSERT_GT(got, 0);
  EXPECT_EQ(bytes.substr(0, static_cast<std::size_t>(got)), "good night");
}

}  // namespace
}  // namespace replay::launcher
