// Tests of the agent's door, with real sockets on the loopback and a thread that plays the daemon: a daemon with the
// key is let in, every other connection is closed, and none can keep a daemon out.
#include "launcher/service/agent_door.hpp"

#include <arpa/inet.h>
#include <event2/event.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "launcher/daemon/agent_link.hpp"

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

/// A connection from a program that is no daemon.
UniqueFd knock(const LinkAddress& address, const char* from = "127.0.0.1") {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in own{};
  own.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, from, &own.sin_addr), 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
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

  /// Runs connect_agent() in a thread; its result is in error_ and link_ once is_done_.
  void connect(const protocol::LinkKey& key) { connect(key, door_.address()); }
  void connect(const protocol::LinkKey& key, const LinkAddress& address) {
    daemon_ = std::thread{[this, key, address] {
      try {
        link_.emplace(connect_agent(address, key));
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
    protocol::FrameSealer sealer{seals_.sending};
    std::string hello = sealer.seal(protocol::encode(protocol::Hello{protocol::kProtocolVersion, 1, {0, 2}, false}));
    hello += sealer.seal(protocol::encode(protocol::Heartbeat{}));
    if (checked_) hello += sealer.seal(protocol::encode(*checked_));
    ASSERT_EQ(::send(stream_.get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  }

  const protocol::LinkKey key_ = key_of(1);
  EventBase loop_{event_base_new()};
  LinkAnswer answer_ = LinkAnswer::kServed;
  std::optional<protocol::NodeChecked> checked_;  // sent behind Hello
  UniqueFd stream_;
  protocol::LinkSeals seals_;
  std::string name_;
  std::vector<std::string> refusals_;
  AgentDoor door_{loop_.get(),
                  listen_on({"127.0.0.1", 0}),
                  key_,
                  {[this](const protocol::LinkSession&) { return answer_; },
                   [this](DaemonStream stream, const protocol::LinkSession&, const std::string& name) {
                     stream_ = std::move(stream.stream);
                     seals_ = *stream.seals;
                     name_ = name;
                     say_hello();
                   },
                   [this](const std::string&, const std::string& reason) { refusals_.push_back(reason); }}};
  std::thread daemon_;
  std::atomic<bool> is_done_ = false;
  bool is_busy_ = false;
  std::string error_;
  std::optional<AgentLink> link_;
};

TEST_F(Door, ADaemonWithTheKeyComesInAndHearsHello) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  ASSERT_EQ(error_, "");
  EXPECT_EQ(link_->hello.cores, (std::vector<std::int32_t>{0, 2}));
  EXPECT_FALSE(link_->stays);
  EXPECT_EQ(name_, own_address(link_->stream.get()).to_text());
  EXPECT_EQ(door_.refused(), 0U);
}

TEST_F(Door, ANodesAnswerToTheCheckSaysHowFarItsClockIsAhead) {
  const auto in_an_hour = (std::chrono::system_clock::now() + 1h).time_since_epoch();
  checked_.emplace();
  checked_->clock_us = std::chrono::duration_cast<std::chrono::microseconds>(in_an_hour).count();
  checked_->word = "4f";
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  ASSERT_TRUE(link_) << error_;
  const CheckedNode checked = check_node(*link_, {"/runs/first/word", {}});
  EXPECT_EQ(checked.node, *checked_);
  EXPECT_LT(std::chrono::abs(checked.ahead - 1h), 30s);
  const std::string note = checked.clock_note(false).value_or("");
  EXPECT_TRUE(note.starts_with("its clock is 3") && note.find(" s ahead of this one's (within ") != std::string::npos)
      << note;
  EXPECT_EQ((CheckedNode{{}, 2s, 1ms}.clock_note(false)), std::nullopt);
  EXPECT_EQ((CheckedNode{{}, -3s, 1ms}.clock_note(false)), "its clock is 3.0 s behind this one's (within 0.001 s)");
  protocol::NodeChecked node;
  node.turn_us = 40'000;
  EXPECT_EQ((CheckedNode{node, 41ms, 1ms}.clock_note(true)), std::nullopt);
  EXPECT_EQ((CheckedNode{node, 50ms, 1ms}.clock_note(false)), std::nullopt);
  EXPECT_EQ(
      (CheckedNode{node, 50ms, 1ms}.clock_note(true)),
      "its clock is 0.050 s ahead of this one's (within 0.001 s); jobs that span hosts and share cores have their "
      "turns there at other times");
}

TEST_F(Door, AnAgentThatGoesBeforeItsAnswerToTheCheckIsNamed) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  ASSERT_TRUE(link_) << error_;
  stream_.reset();
  EXPECT_THROW((void)check_node(*link_, {"/runs/first/word", {}}), InputError);
}

TEST_F(Door, NothingBehindHelloIsLost) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  ASSERT_TRUE(link_) << error_;
  std::string bytes(100, '\0');
  const ssize_t got = ::recv(link_->stream.get(), bytes.data(), bytes.size(), 0);
  link_->decoder.feed(bytes.substr(0, static_cast<std::size_t>(got)));
  EXPECT_EQ(protocol::decode_report(link_->decoder.next().value()), protocol::AgentReport{protocol::Heartbeat{}});
}

TEST_F(Door, ADaemonSaysPingFromTheConnectOnWithoutALoop) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  protocol::FrameDecoder decoder{seals_.receiving};
  for (int pings = 0; pings < 2;) {
    if (const auto frame = decoder.next()) {
      EXPECT_EQ(protocol::decode_order(*frame), protocol::AgentOrder{protocol::Ping{}});
      ++pings;
      continue;
    }
    ASSERT_TRUE(until([&] {
      char byte = 0;
      if (::recv(stream_.get(), &byte, 1, MSG_DONTWAIT) != 1) return false;
      decoder.feed({&byte, 1});
      return true;
    }));
  }
}

TEST_F(Door, BothEndsSendWithoutDelay) {
  connect(key_);
  ASSERT_TRUE(until([&] { return is_done_.load(); }));
  for (const int socket : {stream_.get(), link_->stream.get()}) {
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
  ASSERT_TRUE(link_) << error_;
  EXPECT_TRUE(link_->stays);
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

/// A connection that has sent a greeting made with the key, but not yet the proof.
struct Caller {
  Caller(const LinkAddress& address, const protocol::LinkKey& key, std::uint8_t nonce)
      : stream(knock(address)), handshake(protocol::LinkRole::kDaemon, key, nonce_of(nonce)) {
    send(handshake.greeting());
  }
  static protocol::LinkNonce nonce_of(std::uint8_t byte) {
    protocol::LinkNonce nonce;
    nonce.fill(byte);
    return nonce;
  }
  void send(const std::string& bytes) const {
    EXPECT_EQ(::send(stream.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  /// Whether the agent's next message has arrived; the answer that it asks for is in `reply`.
  bool hears() {
    std::string bytes(handshake.wanted(), '\0');
    const ssize_t got = ::recv(stream.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return false;
    const std::size_t wanted = bytes.size();
    reply = handshake.feed(bytes.substr(0, static_cast<std::size_t>(got)));
    return static_cast<std::size_t>(got) == wanted;
  }
  UniqueFd stream;
  protocol::Handshake handshake;
  std::string reply;
};

TEST_F(Door, OfSixtyFourStrangersOneMakesRoomForANewcomer) {
  std::vector<UniqueFd> guests;
  for (std::size_t i = 0; i < AgentDoor::kMostStrangers + 3; ++i) guests.push_back(knock(door_.address()));
  ASSERT_TRUE(until([&] { return door_.refused() == 3; }));
  EXPECT_EQ(refusals_, std::vector<std::string>(3, "made room for a newcomer"));
  EXPECT_EQ(std::ranges::count_if(guests, is_closed), 3);
}

TEST_F(Door, AFloodFromOneAddressTakesNoPlaceOfAnother) {
  const UniqueFd other = knock(door_.address(), "127.0.0.2");
  std::vector<UniqueFd> flood;
  for (std::size_t i = 0; i < 4 * AgentDoor::kMostStrangers; ++i) flood.push_back(knock(door_.address()));
  ASSERT_TRUE(until([&] { return door_.refused() == 3 * AgentDoor::kMostStrangers + 1; }));
  EXPECT_FALSE(is_closed(other));
}

TEST_F(Door, ACallerWhoseGreetingHasTheKeyKeepsItsPlaceWhateverComesBehindIt) {
  Caller caller{door_.address(), key_, 7};
  ASSERT_TRUE(until([&] { return caller.hears(); }));  // the agent's opening; the proof is late, as on a slow link
  std::vector<UniqueFd> flood;
  for (std::size_t i = 0; i < 8 * AgentDoor::kMostStrangers; ++i) flood.push_back(knock(door_.address()));
  ASSERT_TRUE(until([&] { return door_.refused() == 7 * AgentDoor::kMostStrangers; }));
  EXPECT_FALSE(stream_.is_open());
  caller.send(caller.reply);
  ASSERT_TRUE(until([&] { return caller.hears(); }));
  EXPECT_EQ(caller.handshake.answer(), LinkAnswer::kServed);
  EXPECT_TRUE(stream_.is_open());
}

TEST_F(Door, ARepeatedGreetingGetsNoPlace) {
  Caller caller{door_.address(), key_, 7};
  ASSERT_TRUE(until([&] { return caller.hears(); }));
  const Caller eavesdropper{door_.address(), key_, 7};  // the same bytes
  ASSERT_TRUE(until([&] { return door_.refused() == 1; }));
  EXPECT_EQ(refusals_.back(), "repeats the greeting of an earlier connection");
  EXPECT_FALSE(is_closed(caller.stream));
}

/// Relays bytes with a delay in each direction, like a link over a long distance; connects onwards when the first bytes
/// arrive.
class LongWay {
 public:
  LongWay(const LinkAddress& to, std::chrono::milliseconds one_way)
      : to_(to), one_way_(one_way), listener_(listen_on({"127.0.0.1", 0})), thread_([this] { run(); }) {}
  LongWay(const LongWay&) = delete;
  LongWay& operator=(const LongWay&) = delete;
  ~LongWay() {
    is_ending_ = true;
    thread_.join();
  }
  [[nodiscard]] LinkAddress address() const { return own_address(listener_.get()); }

 private:
  struct Parcel {
    Clock::time_point due;
    std::string bytes;  // empty: the sender has closed
  };
  struct Direction {
    std::deque<Parcel> on_the_way;
    bool has_ended = false;
  };
  struct Pair {
    UniqueFd near, far;
    Direction there, back;
  };

  void run() {
    while (!is_ending_) {
      std::this_thread::sleep_for(1ms);
      if (UniqueFd near{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)}; near.is_open()) {
        pairs_.emplace_back();
        pairs_.back().near = std::move(near);
      }
      for (Pair& pair : pairs_) {
        collect(pair.near, pair.there);
        collect(pair.far, pair.back);
        deliver(pair.there, pair.far);
        deliver(pair.back, pair.near);
      }
    }
  }
  void collect(const UniqueFd& from, Direction& direction) const {
    if (!from.is_open() || direction.has_ended) return;
    char bytes[4096];
    const ssize_t got = ::recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    direction.has_ended = got <= 0;
    direction.on_the_way.push_back(
        {Clock::now() + one_way_, {bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0))}});
  }
  void deliver(Direction& direction, UniqueFd& to) const {
    while (!direction.on_the_way.empty() && direction.on_the_way.front().due <= Clock::now()) {
      const std::string bytes = direction.on_the_way.front().bytes;
      direction.on_the_way.pop_front();
      if (!to.is_open()) to = knock(to_);
      if (bytes.empty())
        ::shutdown(to.get(), SHUT_WR);
      else
        (void)::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }

  const LinkAddress to_;
  const std::chrono::milliseconds one_way_;
  UniqueFd listener_;
  std::list<Pair> pairs_;
  std::atomic<bool> is_ending_ = false;
  std::thread thread_;
};

TEST_F(Door, AFloodDoesNotKeepTheOwnerOutAcrossALongWay) {
  std::optional<LongWay> way{std::in_place, door_.address(), 50ms};
  std::atomic<bool> is_over = false;
  std::thread flood{[&] {  // 190 a second kept the owner out when the oldest of 16 places was closed
    std::deque<UniqueFd> guests;
    while (!is_over) {
      guests.push_back(knock(door_.address()));
      if (guests.size() > 400) guests.pop_front();
      std::this_thread::sleep_for(1ms);
    }
  }};
  EXPECT_TRUE(until([&] { return door_.refused() > 0; })) << "the strangers' places are full";
  connect(key_, way->address());
  EXPECT_TRUE(until([&] { return is_done_.load(); }, 120s));
  is_over = true;
  flood.join();
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(stream_.is_open());
  link_.reset();
}

TEST_F(Door, ADaemonOfTheUnprotectedVersionIsRefusedByNameAndReadsWhatWeAre) {
  const UniqueFd old = knock(door_.address());
  const std::string opening = std::string{"RPLAY-LK\x01\0\x02\0\x01\0\0\0", 16} + std::string(32, 'n');
  ASSERT_EQ(::send(old.get(), opening.data(), opening.size(), 0), static_cast<ssize_t>(opening.size()));
  std::string ours;
  ASSERT_TRUE(until([&] {
    char bytes[256];
    const ssize_t got = ::recv(old.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) ours.append(bytes, static_cast<std::size_t>(got));
    return got == 0;
  }));
  EXPECT_EQ(ours.substr(0, 10), (std::string{"RPLAY-LK\x03\0", 10})) << "it says: expected 1, found 3";
  EXPECT_EQ(refusals_.back().substr(0, 52), "link version: expected 3 (encrypted frames), found 1");
}

TEST(AgentLink, AnAgentOfTheUnprotectedVersionIsNamed) {
  const UniqueFd socket = listen_on({"127.0.0.1", 0});
  std::thread old_agent{[&] {
    pollfd knocked{socket.get(), POLLIN, 0};
    ::poll(&knocked, 1, 20'000);
    const UniqueFd stream{::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    const std::string opening = std::string{"RPLAY-LK\x01\0\x02\0\x02\0\0\0", 16} + std::string(32, 'n');
    (void)::send(stream.get(), opening.data(), opening.size(), 0);
    char bytes[protocol::kOpeningBytes];
    (void)::recv(stream.get(), bytes, sizeof bytes, MSG_WAITALL);
  }};
  try {
    (void)connect_agent(own_address(socket.get()), key_of(1));
    ADD_FAILURE() << "an agent of version 1 was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("link version: expected 3 (encrypted frames), found 1"), std::string::npos)
        << error.what();
  }
  old_agent.join();
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
    FAIL() << "connected to no peer";
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
