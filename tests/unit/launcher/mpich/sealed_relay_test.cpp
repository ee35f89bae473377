// Tests of the line between mpiexec and a proxy on another node, with both halves in one loop. `mpiexec_` and `proxy_` are the
// streams' other ends, which the test reads and writes.
#include "launcher/mpich/sealed_relay.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "launcher/mpich/spanning.hpp"
#include "scheduler/protocol/bytes.hpp"
#include "tests/support/loop_fixture.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;

/// Of the direction from home to far, or back.
protocol::SealKey key(std::uint8_t byte) {
  protocol::SealKey key;
  key.fill(byte);
  return key;
}
const protocol::SealKey kToFar = key(1), kToHome = key(2);

std::pair<UniqueFd, UniqueFd> stream() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

/// Endless bytes of which each piece is different.
class Pattern {
 public:
  [[nodiscard]] std::string_view at(std::size_t place, std::size_t size) const {
    return std::string_view{bytes_}.substr(place % kPeriod, std::min(size, kPeriod));
  }

 private:
  static constexpr std::size_t kPeriod = 65521;
  std::string bytes_ = [] {
    std::string bytes(2 * kPeriod, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i % kPeriod * 2654435761U) >> 13U);
    return bytes;
  }();
};

class SealedRelayTest : public test::LoopTest {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    auto [home_local, mpiexec] = stream();
    auto [far_local, proxy] = stream();
    auto [home_sealed, far_sealed] = stream();
    mpiexec_ = std::move(mpiexec);
    proxy_ = std::move(proxy);
    wire_ = far_sealed.get();
    home_ = relay(std::move(home_local), std::move(home_sealed), kToFar, kToHome, home_, home_says_);
    far_ = relay(std::move(far_local), std::move(far_sealed), kToHome, kToFar, far_, far_says_);
  }
  /// A relay that is destroyed in its last call, which `says` tells.
  std::unique_ptr<SealedRelay> relay(UniqueFd local, UniqueFd sealed, const protocol::SealKey& sending,
                                     const protocol::SealKey& receiving, std::unique_ptr<SealedRelay>& place,
                                     std::string& says) {
    const auto over = [this, &place, &says](const std::string& what) {
      EXPECT_EQ(says, "");
      says = what;
      place.reset();
      stop_loop();
    };
    return std::make_unique<SealedRelay>(
        loop_.get(), std::move(local), std::move(sealed), protocol::FrameSealer{sending},
        protocol::FrameDecoder{receiving},
        SealedRelay::Callbacks{[over](const ProxyEnd& end) {
                                 over("ended: " + std::to_string(end.finalized) + " of " + std::to_string(end.ranks) +
                                      " " + end.reason);
                               },
                               [over] { over("delivered"); },
                               [over](const std::string& why) { over("lost: " + why); },
                               {},
                               [this](const std::string& why) { warnings_.push_back(why); }});
  }
  /// In place of the far half: a peer with its keys that sends these bytes.
  void speak_as_far(const std::function<std::string(protocol::FrameSealer&)>& say) {
    const UniqueFd kept{::dup(wire_)};
    far_.reset();
    protocol::FrameSealer sealer{kToHome};
    const std::string bytes = say(sealer);
    ASSERT_EQ(::send(kept.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    run(5s);
  }

  static void say(const UniqueFd& stream, const std::string& text) {
    ASSERT_EQ(::send(stream.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// Runs the loop until so many bytes have come, or the end of the stream, which is shown as '$'.
  std::string hear(const UniqueFd& stream, std::size_t bytes) {
    std::string heard;
    LoopEvent readable{loop_.get(), stream.get(), EV_READ | EV_PERSIST, [&] {
                         char buffer[65536];
                         const ssize_t count = ::recv(stream.get(), buffer, sizeof buffer, 0);
                         if (count < 0 && errno == EAGAIN) return;
                         heard += count > 0 ? std::string{buffer, static_cast<std::size_t>(count)} : "$";
                         if (count <= 0 || heard.size() >= bytes) stop_loop();
                       }};
    readable.arm();
    while (heard.size() < bytes && !heard.ends_with('$')) {
      const std::size_t before = heard.size();
      run(2s);
      if (heard.size() == before && home_says_.empty() && far_says_.empty()) break;
    }
    return heard;
  }
  /// Runs the loop until both have said what they have to.
  void await_ends() {
    for (int turns = 0; turns < 10 && (home_says_.empty() || far_says_.empty()); ++turns) run(1s);
  }

  UniqueFd mpiexec_, proxy_;
  int wire_ = -1;
  std::unique_ptr<SealedRelay> home_, far_;
  std::string home_says_, far_says_;
  std::vector<std::string> warnings_;
};

/// Writes the pattern into a stream whenever it takes some.
struct Writer {
  Writer(event_base* loop, int to, std::size_t limit)
      : stream(to), most(limit), writable(loop, to, EV_WRITE | EV_PERSIST, [this] { write_some(); }) {
    writable.arm();
  }
  void write_some() {
    const std::string_view next = pattern.at(written, std::min<std::size_t>(most - written, 30000));
    const ssize_t count = ::send(stream, next.data(), next.size(), MSG_NOSIGNAL);
    if (count > 0) written += static_cast<std::size_t>(count);
    if (written == most) writable.disarm();
  }
  int stream;
  std::size_t most;
  std::size_t written = 0;
  Pattern pattern;
  LoopEvent writable;
};

/// Compares what comes with the pattern.
struct Reader {
  Reader(event_base* loop, int from, std::size_t all, std::function<void()> done)
      : readable(loop, from, EV_READ | EV_PERSIST, [this, from, all, done = std::move(done)] {
          char buffer[50000];
          const ssize_t count = ::recv(from, buffer, sizeof buffer, 0);
          if (count <= 0) return;
          const auto size = static_cast<std::size_t>(count);
          is_right = is_right && pattern.at(read, size) == std::string_view(buffer, size);
          read += size;
          if (read >= all) done();
        }) {}
  std::size_t read = 0;
  bool is_right = true;
  Pattern pattern;
  LoopEvent readable;
};

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(SealedRelayTest, BytesPassBothWays) {
  say(mpiexec_, "start");
  EXPECT_EQ(hear(proxy_, 5), "start");
  say(proxy_, "started");
  EXPECT_EQ(hear(mpiexec_, 7), "started");
}

TEST_F(SealedRelayTest, AStoppedReaderStopsTheWriterAndNothingIsLost) {
  constexpr std::size_t kAll = std::size_t{100} << 20U;
  for (const auto& [from, to] : {std::pair{proxy_.get(), mpiexec_.get()}, std::pair{mpiexec_.get(), proxy_.get()}}) {
    const std::size_t before = resident_bytes();
    Writer writer{loop_.get(), from, kAll};
    run(300ms);
    const std::size_t taken = writer.written;
    run(200ms);
    EXPECT_EQ(writer.written, taken) << "the writer was not stopped";
    EXPECT_LT(taken, 2 * SealedRelay::kMostWaiting + (std::size_t{2} << 20U)) << "the rest are buffers of the kernel";
    EXPECT_LT(resident_bytes(), before + (std::size_t{24} << 20U)) << "the address sanitizer keeps what is freed";
    Reader reader{loop_.get(), to, kAll, [this] { stop_loop(); }};
    reader.readable.arm();
    run(60s);
    EXPECT_EQ(reader.read, kAll);
    EXPECT_TRUE(reader.is_right);
  }
}

TEST_F(SealedRelayTest, AnEndOfOneDirectionIsPassedOnAndTheOtherGoesOn) {
  say(mpiexec_, "last");
  ::shutdown(mpiexec_.get(), SHUT_WR);
  EXPECT_EQ(hear(proxy_, 5), "last$");
  say(proxy_, "still here");
  EXPECT_EQ(hear(mpiexec_, 10), "still here");
}

TEST_F(SealedRelayTest, TheEndOfMpiexecReachesTheProxy) {
  say(proxy_, "unread by mpiexec");
  run(50ms);
  mpiexec_.reset();
  EXPECT_EQ(hear(proxy_, 1), "$");
}

TEST_F(SealedRelayTest, AReapedProxysWordsAndItsEndArriveThoughTheRanksHoldTheStream) {
  const UniqueFd ranks{::dup(proxy_.get())};
  const std::string words(200'000, 'w');
  say(proxy_, words);
  proxy_.reset();
  far_->drain({1, 2, "rank 1 has exited"});
  EXPECT_EQ(hear(mpiexec_, words.size() + 1), words + "$");
  await_ends();
  EXPECT_EQ(home_says_, "ended: 1 of 2 rank 1 has exited");
  EXPECT_EQ(far_says_, "delivered");
}

TEST_F(SealedRelayTest, AWarningComesOnceAndBeforeWhatIsWrittenAfterIt) {
  far_->warn("rank 3 died");
  far_->warn("rank 2 died");
  say(proxy_, "the exit of a rank");
  EXPECT_EQ(hear(mpiexec_, 18), "the exit of a rank");
  EXPECT_EQ(warnings_, std::vector<std::string>{"rank 3 died"});
  far_->drain({0, 2, ""});
  await_ends();
  EXPECT_EQ(home_says_, "ended: 0 of 2 ");
}

TEST_F(SealedRelayTest, AnEndBehindAClosedStreamArrives) {
  say(proxy_, "bye");
  proxy_.reset();
  EXPECT_EQ(hear(mpiexec_, 4), "bye$") << "as the stream itself would tell";
  EXPECT_EQ(home_says_, "");
  far_->drain({2, 2, ""});
  await_ends();
  EXPECT_EQ(home_says_, "ended: 2 of 2 ");
  EXPECT_EQ(far_says_, "delivered");
}

TEST_F(SealedRelayTest, WhatAProxyThatTakesNothingMoreHasSaidArrives) {
  say(mpiexec_, "not read by the proxy");
  run(50ms);
  say(proxy_, "last words");
  proxy_.reset();
  say(mpiexec_, "in vain");
  EXPECT_EQ(hear(mpiexec_, 10).substr(0, 10), "last words");
  say(mpiexec_, std::string(100'000, 'x'));
  run(50ms);
  far_->drain({0, 1, ""});
  await_ends();
  EXPECT_EQ(home_says_, "ended: 0 of 1 ");
}

TEST_F(SealedRelayTest, ACutStreamEndsBothLocalStreams) {
  ::shutdown(wire_, SHUT_RDWR);
  EXPECT_EQ(hear(mpiexec_, 1), "$");
  EXPECT_EQ(hear(proxy_, 1), "$");
  await_ends();
  EXPECT_EQ(home_says_, "lost: the stream to the other agent was closed");
  EXPECT_EQ(far_says_, "lost: the stream to the other agent was closed");
}

TEST_F(SealedRelayTest, AStreamThatIsCutWhileAnEndIsUnderwayIsLost) {
  ::shutdown(mpiexec_.get(), SHUT_RD);
  Writer writer{loop_.get(), proxy_.get(), std::size_t{10} << 20U};
  run(100ms);
  far_->drain({2, 2, ""});
  ::shutdown(wire_, SHUT_RDWR);
  await_ends();
  EXPECT_EQ(far_says_, "lost: the stream to the other agent was closed");
}

TEST_F(SealedRelayTest, BytesWithoutTheKeyAreAFault) {
  speak_as_far([](protocol::FrameSealer&) { return std::string(200, 'x'); });
  EXPECT_TRUE(home_says_.starts_with("lost: frame 1 is not the one that was sent")) << home_says_;
  EXPECT_EQ(hear(mpiexec_, 1), "$");
}

TEST_F(SealedRelayTest, AFrameThatIsNotExpectedIsAFault) {
  speak_as_far([](protocol::FrameSealer& sealer) { return sealer.seal(protocol::encode_frame(9, "x")); });
  EXPECT_EQ(home_says_, "lost: frame of type 9 is not expected");
}

TEST_F(SealedRelayTest, BytesBehindTheEndAreAFault) {
  speak_as_far([](protocol::FrameSealer& sealer) {
    std::string bytes = sealer.seal(protocol::encode_frame(2, ""));
    return bytes += sealer.seal(protocol::encode_frame(1, "more"));
  });
  EXPECT_EQ(home_says_, "lost: frame of type 1 is not expected");
}

TEST_F(SealedRelayTest, AFrameThatIsTooLargeIsAFaultBeforeItIsThere) {
  speak_as_far([](protocol::FrameSealer& sealer) {
    return sealer.seal(protocol::encode_frame(1, std::string(1 << 20, 'x'))).substr(0, 1000);
  });
  EXPECT_EQ(home_says_, "lost: a frame is too large");
}

}  // namespace
}  // namespace replay::launcher
