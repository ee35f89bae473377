// The door for daemons, with real sockets on the loopback and a thread that plays the daemon: who has the key comes in,
// everybody else is closed, and nobody keeps anybody else out.
#include "launcher/agent_door.hpp"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "launcher/agent_link.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using protocol::LinkAnswer;

protocol::LinkKey key_of(std::uint8_t byte) {
  protocol::LinkKey key;
  key.fill(byte);
  return key;
}

/// The end of a connection that is not a daemon's.
UniqueFd knock(const LinkAddress& address) {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(address.port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
  return socket;
}

bool is_closed(const UniqueFd& socket) {
  char bytes[256];
  ssize_t got = 0;
  while ((got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

class Door : public testing::Test {
 protected:
  ~Door() override {
    if (daemon_.joinable()) daemon_.join();
  }

  bool until(const std::function<bool()>& happened, std::chrono::milliseconds limit = 15s) {
    const auto deadline = Clock::now() + limit;
    while (!happened()) {
      if (Clock::now() > deadline) return false;
      LoopEvent tick{loop_.get(), -1, 0, [] {}};
      tick.arm_after(5ms);
      event_base_loop(loop_.get(), EVLOOP_ONCE);
    }
    return true;
  }

  /// connect_agent() in a thread; what became of it is in error_ and link_ once is_done_.
  void connect(const protocol::LinkKey& key) {
    daemon_ = std::thread{[this, key] {
      try {
        link_ = connect_agent(door_.address(), key);
      } catch (const AgentIsBusy& busy) {
        is_busy_ = true;
        error_ = busy.what();
      } catch (const InputError& error) {
        error_ = error.what();
      }
      is_done_ = true;
    }};
  }
  void say_hello() {
    const std::string hello = protocol::encode(protocol::Hello{protocol::kProtocolVersion, 1, {0, 2}, false}) +
                              protocol::encode(protocol::Heartbeat{});
    ASSERT_EQ(::send(stream_.get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  }

  const protocol::LinkKey key_ = key_of(1);
  EventBase loop_{event_base_new()};
  LinkAnswer answer_ = LinkAnswer::kServed;
  UniqueFd stream_;
  std::string name_;
  std::vector<std::string> refusals_;
  AgentDoor door_{loop_.get(),
                  listen_on({"127.0.0.1", 0}),
                  key_,
                  {[this] { return answer_; },
                   [this](UniqueFd stream, const std::string& name) {
                     stream_ = std::move(stream);
                     name_ = name;
                     say_hello();
                   },
                   [this](const std::string&, const std::string& reason) { refusals_.push_back(reason); }}};
  std::thread daemon_;
  std::atomic<bool> is_done_ = false;
  bool is_busy_ = false;
  std::string error_;
  AgentLink link_;
};

TEST_F(Door, ADaemonWithTheKeyComesInAndHearsHello) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_EQ(error_, "");
  EXPECT_EQ(link_.hello.cores, (std::vector<std::int32_t>{0, 2}));
  EXPECT_FALSE(link_.stays);
  EXPECT_EQ(name_, own_address(link_.stream.get()).to_text());
  EXPECT_EQ(door_.refused(), 0U);
}

TEST_F(Door, NothingBehindHelloIsLost) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  const std::string heartbeat = protocol::encode(protocol::Heartbeat{});
  std::string bytes(100, '\0');
  ASSERT_EQ(::recv(link_.stream.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(heartbeat.size()));
  EXPECT_EQ(bytes.substr(0, heartbeat.size()), heartbeat);
}

TEST_F(Door, BothEndsSendWithoutDelay) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  for (const int socket : {stream_.get(), link_.stream.get()}) {
    int value = 0;
    socklen_t length = sizeof value;
    ASSERT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &value, &length), 0);
    EXPECT_NE(value, 0);
  }
}

TEST_F(Door, AnotherKeyIsRefusedAndBothSidesSaySo) {
  connect(key_of(2));
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_NE(error_.find("wrong key"), std::string::npos) << error_;
  EXPECT_EQ(refusals_, std::vector<std::string>{"wrong key"});
  EXPECT_EQ(door_.refused(), 1U);
  EXPECT_FALSE(stream_.is_open());
}

TEST_F(Door, ASecondDaemonHearsThatTheFirstIsServed) {
  answer_ = LinkAnswer::kBusy;
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_TRUE(is_busy_);
  EXPECT_NE(error_.find("serves another daemon"), std::string::npos) << error_;
  EXPECT_EQ(door_.refused(), 0U) << "it has the key";
}

TEST_F(Door, AnAgentThatStaysSaysSo) {
  answer_ = LinkAnswer::kServedStays;
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_TRUE(link_.stays) << error_;
}

TEST_F(Door, GarbageIsClosedAtOnce) {
  const UniqueFd guest = knock(door_.address());
  const std::string garbage(200, 'x');
  ASSERT_EQ(::send(guest.get(), garbage.data(), garbage.size(), 0), 200);
  ASSERT_TRUE(until([&] { return is_closed(guest); }, AgentDoor::kProveWithin));
  EXPECT_EQ(refusals_, std::vector<std::string>{"opening: expected that of a replay link, found other bytes"});
}

TEST_F(Door, WhoSaysNothingIsClosedAfterAWhileAndKeepsNobodyOut) {
  const UniqueFd silent = knock(door_.address());
  const UniqueFd slow = knock(door_.address());
  ASSERT_EQ(::send(slow.get(), "RPLAY", 5, 0), 5);
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_EQ(error_, "");
  EXPECT_EQ(door_.refused(), 0U);
  ASSERT_TRUE(until([&] { return is_closed(silent) && is_closed(slow); }));
  EXPECT_EQ(door_.refused(), 2U);
  EXPECT_EQ(refusals_.front(), "has not proved the key within 5 s");
}

TEST_F(Door, SixteenWaitAtMostAndANewcomerTakesTheOldestPlace) {
  std::vector<UniqueFd> guests;
  for (std::size_t i = 0; i < AgentDoor::kMostCandidates; ++i) {
    guests.push_back(knock(door_.address()));
    char first = 0;
    ASSERT_TRUE(until([&] { return ::recv(guests.back().get(), &first, 1, MSG_DONTWAIT) == 1; }));  // it is in
  }
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  EXPECT_EQ(error_, "");
  EXPECT_EQ(door_.refused(), 1U);
  EXPECT_TRUE(is_closed(guests.front()));
  EXPECT_FALSE(is_closed(guests.back()));
}

TEST(LinkAddress, IsHostAndPort) {
  EXPECT_EQ(LinkAddress::parse("node7:40123"), (LinkAddress{"node7", 40123}));
  EXPECT_EQ(LinkAddress::parse("[::1]:0"), (LinkAddress{"::1", 0}));
  EXPECT_EQ((LinkAddress{"::1", 7}).to_text(), "[::1]:7");
  for (const char* text : {"", "node7", "node7:", ":5", "node7:65536", "node7:-1", "node7:5x", "::1:5", "[]:5"})
    EXPECT_THROW((void)LinkAddress::parse(text), InputError) << text;
}

TEST(AgentLink, WhereNobodyListensThatIsSaid) {
  LinkAddress address{"127.0.0.1", 0};
  {
    const UniqueFd socket = listen_on(address);
    address = own_address(socket.get());
  }
  try {
    (void)connect_agent(address, key_of(1));
    FAIL() << "connected to nobody";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string{error.what()},
              "agent " + address.to_text() +
                  ": cannot connect: Connection refused; expected a `replay agent` that listens there");
  }
}

TEST(AgentLink, ATakenPortIsNamed) {
  const UniqueFd first = listen_on({"127.0.0.1", 0});
  const LinkAddress address = own_address(first.get());
  EXPECT_THROW((void)listen_on(address), InputError);
}

}  // namespace
}  // namespace replay::launcher
