#include "scheduler/base/loop/listener.hpp"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "scheduler/base/file/temporary_folder.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Lowers the limit to the open descriptors, until it is destroyed.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const UniqueFd next{::dup(STDERR_FILENO)};
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next.get());
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;
  ~NoDescriptorLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// Runs the loop until `happened` or the time limit; returns the number of rounds.
template <typename Condition>
int rounds(event_base* loop, Condition happened, std::chrono::milliseconds limit) {
  int rounds = 0;
  for (const auto end = Clock::now() + limit; !happened() && Clock::now() < end; ++rounds) {
    LoopEvent tick{loop, -1, 0, [] {}};
    tick.arm_after(10ms);
    event_base_loop(loop, EVLOOP_ONCE);
  }
  return rounds;
}

class ListenerTest : public testing::Test {
 protected:
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
  }
  UniqueFd listening() {
    UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    EXPECT_EQ(::listen(socket.get(), 8), 0);
    return socket;
  }
  UniqueFd knock() {
    UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    return socket;
  }
  void until(std::size_t count) {
    (void)rounds(
        loop_.get(), [this, count] { return streams_.size() >= count; }, 15s);
  }

  TemporaryFolder folder_;
  sockaddr_un address_ = address_of((folder_ / "socket").string());
  EventBase loop_{event_base_new()};
  std::vector<UniqueFd> streams_;
  Listener listener_{loop_.get(), listening(), [this](UniqueFd stream) { streams_.push_back(std::move(stream)); }};
};

TEST_F(ListenerTest, EverybodyComesIn) {
  const UniqueFd one = knock(), two = knock();
  until(2);
  ASSERT_EQ(streams_.size(), 2U);
  ASSERT_EQ(::send(two.get(), "2", 1, 0), 1);
  char first = 0;
  ASSERT_EQ(::recv(streams_[1].get(), &first, 1, 0), 1);
  EXPECT_EQ(first, '2');
  EXPECT_EQ(::recv(streams_[0].get(), &first, 1, 0), -1) << "non-blocking";
}

TEST_F(ListenerTest, WithoutADescriptorItBreathesAndTheCallerComesInLater) {
  const UniqueFd caller = knock();
  event_base* const loop = loop_.get();
  int turns = 0;
  {
    // Without members of this fixture: the sanitizers' check of its type would need a pipe.
    const NoDescriptorLeft none;
    turns = rounds(
        loop, [] { return false; }, 3 * Listener::kBreath);
  }
  EXPECT_LT(turns, 100) << "the loop spins";
  EXPECT_TRUE(streams_.empty());
  until(1);
  EXPECT_EQ(streams_.size(), 1U);
}

}  // namespace
}  // namespace replay
