// Tests of a relay without the key between a daemon and an agent over TCP. Passing everything on disturbs nothing and
// reveals nothing; whatever it injects, drops, repeats, reorders or changes, in either direction, ends the connection
// with that reason on both sides, without a lease all jobs as well, and runs nothing. A connection that it cuts is mended.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "scheduler/protocol/agent_messages.hpp"
#include "tests/support/remote_agent_fixture.hpp"

namespace replay::test {
namespace {

namespace fs = std::filesystem;

enum class Mischief : std::uint8_t { kInjects, kDrops, kRepeats, kReorders, kChanges };
enum class Direction : std::uint8_t { kOrders, kReports };

/// Relays one connection after the other. What arrives in one read is passed on in one write, and an idle connection sends
/// one frame a second in each direction; so a piece is a frame.
class Relay {
 public:
  explicit Relay(const std::string& agent)
      : agent_(launcher::LinkAddress::parse(agent)), listener_(launcher::listen_on({"127.0.0.1", 0})) {
    thread_ = std::thread{[this] { run(); }};
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() {
    is_ending_ = true;
    thread_.join();
  }

  [[nodiscard]] std::string address() const { return launcher::own_address(listener_.get()).to_text(); }
  /// Disturbs the next piece, once.
  void disturb(Mischief how, Direction direction, std::string injected) {
    how_ = how;
    direction_ = direction;
    injected_ = std::move(injected);
    is_due_ = true;
  }
  /// Ends the connection that it relays.
  void cut() { is_to_cut_ = true; }
  /// Ends it, and relays no further one.
  void close() {
    is_closed_ = true;
    cut();
  }
  [[nodiscard]] int connections() const { return connections_; }
  /// All bytes that it passed on. REQUIRES: both sides have closed.
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  void run() {
    while (!is_ending_) {
      pollfd knocked{listener_.get(), POLLIN, 0};
      if (is_closed_ || ::poll(&knocked, 1, 20) <= 0) continue;
      const UniqueFd daemon{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (daemon.is_open()) relay(daemon.get());
    }
  }

  void relay(int daemon) {
    const UniqueFd agent = connect_to_agent();
    for (const int socket : {daemon, agent.get()}) launcher::send_without_delay(socket);
    ++connections_;
    while (!is_ending_ && !is_to_cut_.exchange(false)) {
      pollfd ends[2] = {{daemon, POLLIN, 0}, {agent.get(), POLLIN, 0}};
      ::poll(ends, 2, 20);
      if (ends[0].revents != 0 && !pass_on(daemon, agent.get(), Direction::kOrders)) break;
      if (ends[1].revents != 0 && !pass_on(agent.get(), daemon, Direction::kReports)) break;
    }
    has_ended_ = true;
  }

  UniqueFd connect_to_agent() const {
    UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(agent_.port);
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    return socket;
  }

  bool pass_on(int from, int to, Direction direction) {
    std::string bytes(65'536, '\0');
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    bytes.resize(static_cast<std::size_t>(got));
    seen_ += bytes;
    if (is_due_ && direction == direction_) bytes = disturbed(bytes);
    return bytes.empty() || ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  std::string disturbed(std::string bytes) {
    if (how_ == Mischief::kReorders && held_.empty()) {
      held_ = bytes;
      return {};
    }
    is_due_ = false;
    switch (how_) {
      case Mischief::kInjects: return injected_ + bytes;
      case Mischief::kDrops: return {};
      case Mischief::kRepeats: return bytes + bytes;
      case Mischief::kReorders: return bytes + held_;
      case Mischief::kChanges: bytes[0] = static_cast<char>(bytes[0] ^ 1); return bytes;
    }
    return bytes;
  }

  const launcher::LinkAddress agent_;
  const UniqueFd listener_;
  Mischief how_{};
  Direction direction_{};
  std::string injected_;
  std::string held_;
  std::string seen_;
  std::atomic<bool> is_due_ = false;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<bool> is_to_cut_ = false;
  std::atomic<bool> is_closed_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

class RelayedAgent : public RemoteAgent {
 protected:
  void SetUp() override {
    RemoteAgent::SetUp();
    machine_ = kEmulated;
  }
  /// Puts the relay in front of the agent: daemons started later connect to the relay.
  void put_relay_between() {
    relay_.emplace(address_);
    address_ = relay_->address();
  }
  std::optional<Relay> relay_;
};

TEST_F(RelayedAgent, WhatARelayPassesOnItCannotRead) {
  start_agent();
  put_relay_between();
  EXPECT_EQ(run(arguments("short.swf")), 0) << output();
  expect_all_verified(2);
  ASSERT_TRUE(comes_true([this] { return relay_->has_ended(); }));
  EXPECT_GT(relay_->seen().size(), 500U);
  for (const char* word : {"phases", "jobs/1", "REPLAY"})
    EXPECT_EQ(relay_->seen().find(word), std::string::npos) << word << " could be read on the way";
}

TEST_F(RelayedAgent, ALinkThatIsCutAndMendedCostsNothingAndLosesNothing) {
  start_agent();
  put_relay_between();
  write_text(folder_ / "t.swf",
             "; MaxProcs: 2\n"
             "1 0 -1 3 2 1.5 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "2 0.5 -1 1 1 1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
             "3 1 -1 1 2 1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n");
  auto running = daemon(arguments("t.swf"));
  ASSERT_TRUE(comes_true([this] { return events().find(" ranks job=1") != std::string::npos; })) << running->out();
  const auto is_over = [this] { return events().find("finish job=3") != std::string::npos; };
  for (int cuts = 0; cuts < 100 && !is_over(); ++cuts) {
    const int before = relay_->connections();
    relay_->cut();
    ASSERT_TRUE(comes_true([&] { return relay_->connections() > before || is_over(); }));
  }
  EXPECT_EQ(running->wait(), 0) << output() << agent_->err();
  expect_all_verified(3);
  EXPECT_GT(relay_->connections(), 3);
  EXPECT_NE(events().find("the line is mended"), std::string::npos) << events();
  EXPECT_EQ(agent_->wait(), 0);
  expect_nothing_left();
}

TEST_F(RelayedAgent, ALinkThatStaysCutEndsTheRunAndTheJobsWhenTheLeaseIsOver) {
  lease_ = "2s";
  start_agent();
  put_relay_between();
  auto running = daemon_with_a_running_job();
  relay_->close();
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("agent " + address_), std::string::npos) << output();
  EXPECT_NE(events().find("finish job=1 outcome=failed"), std::string::npos) << events();
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_NE(agent_->err().find("has not been heard of for 2 s: ending all jobs"), std::string::npos) << agent_->err();
  expect_nothing_left();
}

class DisturbedAgent : public RelayedAgent, public testing::WithParamInterface<std::pair<Mischief, Direction>> {};

TEST_P(DisturbedAgent, RunsNothingEndsAllJobsAndBothSidesSayWhy) {
  const auto [mischief, direction] = GetParam();
  lease_ = "0";
  start_agent();
  put_relay_between();
  auto running = daemon_with_a_running_job();
  const fs::path mark = folder_ / "injected";
  const std::string order = protocol::encode(protocol::AgentOrder{protocol::LaunchJob{
      JobId{666}, {"/bin/sh", "-c", "touch " + mark.string()}, {}, folder_.path().string(), {0}, false, 0}});
  const std::string report = protocol::encode(protocol::AgentReport{protocol::JobEnded{JobId{1}, {}}});
  relay_->disturb(mischief, direction, direction == Direction::kOrders ? order : report);
  EXPECT_EQ(running->wait(), 1);
  EXPECT_NE(output().find("is not the one that was sent"), std::string::npos) << output();
  EXPECT_NE(events().find("finish job=1 outcome=failed"), std::string::npos) << events();
  EXPECT_EQ(agent_->wait(), 0);
  if (direction == Direction::kOrders) {
    EXPECT_NE(agent_->err().find("is not the one that was sent"), std::string::npos) << agent_->err();
  }
  EXPECT_FALSE(fs::exists(mark)) << "an order without the key was carried out";
  expect_nothing_left();
}

std::string name_of_disturbance(const testing::TestParamInfo<std::pair<Mischief, Direction>>& info) {
  constexpr const char* kNames[] = {"Injects", "Drops", "Repeats", "Reorders", "Changes"};
  return fmt::format("Relay{}{}", kNames[static_cast<int>(info.param.first)],
                     info.param.second == Direction::kOrders ? "Orders" : "Reports");
}

INSTANTIATE_TEST_SUITE_P(EachWay, DisturbedAgent,
                         testing::Values(std::pair{Mischief::kInjects, Direction::kOrders},
                                         std::pair{Mischief::kDrops, Direction::kOrders},
                                         std::pair{Mischief::kRepeats, Direction::kOrders},
                                         std::pair{Mischief::kReorders, Direction::kOrders},
                                         std::pair{Mischief::kChanges, Direction::kOrders},
                                         std::pair{Mischief::kInjects, Direction::kReports},
                                         std::pair{Mischief::kDrops, Direction::kReports},
                                         std::pair{Mischief::kRepeats, Direction::kReports},
                                         std::pair{Mischief::kReorders, Direction::kReports},
                                         std::pair{Mischief::kChanges, Direction::kReports}),
                         name_of_disturbance);

}  // namespace
}  // namespace replay::test
