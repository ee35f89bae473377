// Tests of a session between daemon and agent, with real sockets on the loopback: its connection is cut again and again,
// and every order and every report takes effect once, in order.
#include "launcher/daemon/agent_session.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "launcher/agent/daemon_line.hpp"
#include "launcher/service/agent_door.hpp"

namespace replay::launcher {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using protocol::LinkAnswer;

class Session : public testing::Test {
 protected:
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }  // as agent and daemon do

  /// The agent's side; the daemon's begins with connect().
  void listen(std::chrono::milliseconds silence = 0ms) {
    silence_ = silence;
    door_.emplace(loop_.get(), listen_on({"127.0.0.1", 0}), key_,
                  AgentDoor::Callbacks{[this](const protocol::LinkSession& wanted) { return answer(wanted); },
                                       [this](DaemonStream stream, const protocol::LinkSession& wanted,
                                              const std::string&) { take(std::move(stream), wanted); },
                                       [](const std::string&, const std::string&) {}});
  }
  LinkAnswer answer(const protocol::LinkSession& wanted) const {
    if (agent_ && wanted.id == served_.id) return LinkAnswer::kResumed;
    return agent_ || wanted.purpose == protocol::LinkPurpose::kGoesOn ? LinkAnswer::kBusy : LinkAnswer::kServedStays;
  }
  void take(DaemonStream stream, const protocol::LinkSession& wanted) {
    if (!agent_) {
      served_ = wanted;
      agent_ = std::make_unique<DaemonLine>(
          loop_.get(), silence_, std::chrono::milliseconds{wanted.lease_ms},
          DaemonLine::Callbacks{[this](const protocol::AgentOrder& order) { on_order(order); },
                                [] { return protocol::Hello{.pid = 1, .cores = {0}}; },
                                [this](const std::string& reason) {
                                  agent_end_ = reason;
                                  agent_->part(reason);
                                }});
    }
    socket_ = stream.stream.get();
    ++connections_;
    agent_->connect(std::move(stream));
  }
  void on_order(const protocol::AgentOrder& order) {
    if (const auto* suspend = std::get_if<protocol::SuspendJob>(&order)) {
      orders_.push_back(static_cast<std::int64_t>(suspend->job));
      agent_->send(protocol::JobSuspended{suspend->job});
    }
  }

  void connect(std::chrono::milliseconds lease, bool holds = false) {
    std::atomic<bool> is_done = false;
    std::thread daemon{[&] {
      link_ = connect_agent(door_->address(), key_, lease);
      is_done = true;
    }};
    EXPECT_TRUE(until([&] { return is_done.load(); }));
    daemon.join();
    open_session(holds);
  }
  void open_session(bool holds) {
    session_ = std::make_unique<AgentSession>(
        loop_.get(), link_,
        [this](const protocol::AgentReport& report) {
          if (const auto* suspended = std::get_if<protocol::JobSuspended>(&report))
            reports_.push_back(static_cast<std::int64_t>(suspended->job));
        },
        [this](const std::string& reason) { lost_ = reason; },
        [this](AgentSession::LineState, const std::string& note) { notes_.push_back(note); }, holds);
  }

  bool until(const std::function<bool()>& happened, std::chrono::milliseconds limit = 20s) {
    const auto deadline = Clock::now() + limit;
    while (!happened()) {
      if (Clock::now() > deadline) return false;
      LoopEvent tick{loop_.get(), -1, 0, [] {}};
      tick.arm_after(1ms);
      event_base_loop(loop_.get(), EVLOOP_ONCE);
    }
    return true;
  }
  void cut() const { ::shutdown(socket_, SHUT_RDWR); }

  protocol::LinkKey key_{7};
  EventBase loop_{event_base_new()};
  std::chrono::milliseconds silence_{0};
  std::unique_ptr<DaemonLine> agent_;
  std::optional<AgentDoor> door_;
  protocol::LinkSession served_;
  int socket_ = -1;
  int connections_ = 0;
  std::vector<std::int64_t> orders_, reports_;
  std::string agent_end_ = "none";
  AgentLink link_;
  std::string lost_;
  std::vector<std::string> notes_;
  std::unique_ptr<AgentSession> session_;
};

std::vector<std::int64_t> numbers_up_to(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 1; i <= count; ++i) numbers.push_back(i);
  return numbers;
}

TEST_F(Session, OutlivesCutsAtAnyMomentAndEveryMessageTakesEffectOnceInOrder) {
  listen();
  connect(30s);
  std::mt19937 random{5};
  constexpr std::int64_t kOrders = 3000;
  int cuts = 0;
  for (std::int64_t job = 1; job <= kOrders; ++job) {
    session_->send(protocol::SuspendJob{JobId{job}});
    if (random() % 4 == 0) event_base_loop(loop_.get(), EVLOOP_NONBLOCK);
    if (random() % 200 != 0) continue;
    const int before = connections_;
    cut();
    ++cuts;
    const bool waits = random() % 2 == 0;
    ASSERT_TRUE(!waits || until([&] { return connections_ > before; }));
  }
  ASSERT_TRUE(until([&] { return reports_.size() >= kOrders || !lost_.empty(); })) << reports_.size();
  EXPECT_EQ(lost_, "");
  EXPECT_EQ(orders_, numbers_up_to(kOrders));
  EXPECT_EQ(reports_, numbers_up_to(kOrders));
  EXPECT_GT(cuts, 5);
  EXPECT_GT(connections_, 3);
  EXPECT_FALSE(notes_.empty());
}

TEST_F(Session, WithoutALeaseEndsWithItsConnectionOnBothSides) {
  listen();
  connect(0ms);
  cut();
  EXPECT_TRUE(until([&] { return !lost_.empty() && agent_end_ != "none"; }));
  EXPECT_EQ(lost_, "the connection has ended");
  EXPECT_EQ(agent_end_, "");
  EXPECT_EQ(connections_, 1);
}

TEST_F(Session, IsOverForBothWhenTheLineIsNotMendedWithinTheLease) {
  listen();
  connect(1000ms);
  door_.reset();
  cut();
  const auto begin = Clock::now();
  EXPECT_TRUE(until([&] { return agent_end_ != "none"; }));
  EXPECT_EQ(agent_end_, "the daemon has not been heard of for 1 s");
  EXPECT_EQ(lost_, "") << "the agent's jobs may still be ending";
  EXPECT_TRUE(until([&] { return !lost_.empty(); }));
  EXPECT_GE(Clock::now() - begin, 2500ms);
  EXPECT_NE(lost_.find("could not be mended"), std::string::npos) << lost_;
}

TEST_F(Session, IsLostAtOnceWhenTheAgentHasStartedAnew) {
  listen();
  connect(30s);
  session_->send(protocol::SuspendJob{JobId{1}});
  ASSERT_TRUE(until([&] { return reports_.size() == 1; }));
  agent_->stop();
  cut();
  agent_.reset();
  EXPECT_TRUE(until([&] { return !lost_.empty(); }));
  EXPECT_NE(lost_.find("has started anew"), std::string::npos) << lost_;
}

TEST_F(Session, ThatHoldsGivesNoOrderBeforeItsRelease) {
  listen();
  connect(30s, true);
  session_->send(protocol::SuspendJob{JobId{1}});
  agent_->send(protocol::JobSuspended{JobId{99}});
  ASSERT_TRUE(until([&] { return reports_.size() == 1; }));
  EXPECT_TRUE(orders_.empty());
  session_->release();
  EXPECT_TRUE(until([&] { return orders_.size() == 1; }));
}

// Of what a daemon has got, it had kept one report; the other one, and a third, come to the daemon after it.
TEST_F(Session, GoesOnWithAnotherDaemonWhereTheFirstHadKeptIt) {
  listen();
  connect(30s, true);
  session_->send(protocol::SuspendJob{JobId{1}});
  session_->release();
  ASSERT_TRUE(until([&] { return reports_.size() == 1; }));
  session_->release();
  agent_->send(protocol::JobSuspended{JobId{98}});
  ASSERT_TRUE(until([&] { return reports_.size() == 2; }));
  session_.reset();
  const LinkTarget target = link_;
  link_.close();
  agent_->send(protocol::JobSuspended{JobId{99}});

  reports_.clear();
  static_cast<LinkTarget&>(link_) = target;
  open_session(true);
  session_->send(protocol::SuspendJob{JobId{1}});  // as then
  session_->play(protocol::JobSuspended{JobId{1}});
  session_->release();
  session_->go_on();
  session_->send(protocol::SuspendJob{JobId{2}});
  session_->release();
  EXPECT_TRUE(until([&] { return reports_.size() == 4; }));
  EXPECT_EQ(reports_, (std::vector<std::int64_t>{1, 98, 99, 2}));
  EXPECT_EQ(orders_, (std::vector<std::int64_t>{1, 2})) << "none twice";
  EXPECT_EQ(lost_, "");
}

// A link may be cut in one direction: the daemon's Pings come, and nothing reaches the daemon.
TEST_F(Session, OfADaemonThatHearsNothingIsOverWithTheLeaseAndNotLater) {
  listen();
  connect(4s);
  const auto begin = Clock::now();
  door_.reset();  // heartbeats are those of the agent's loop, of which there is none here
  EXPECT_TRUE(until([&] { return agent_end_ != "none"; }));
  EXPECT_LT(Clock::now() - begin, 5s) << "the daemon gives the jobs up after 6 s";
  EXPECT_EQ(lost_, "");
}

TEST_F(Session, GoesOnWithHeartbeatsThatTheDaemonHears) {
  listen();
  connect(2s);
  LoopEvent heart{loop_.get(), -1, EV_PERSIST, [this] { agent_->send_heartbeat(); }};
  heart.arm_after(50ms);
  const auto begin = Clock::now();
  EXPECT_TRUE(until([&] { return Clock::now() - begin > 3s; }));
  cut();
  EXPECT_TRUE(until([&] { return connections_ == 2 || agent_end_ != "none"; }));
  EXPECT_EQ(agent_end_, "none");
  EXPECT_EQ(lost_, "");
}

TEST_F(Session, ASilentLineIsCutAndMended) {
  listen(1000ms);
  connect(30s);
  const UniqueFd nowhere{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  link_.writer = std::make_unique<LinkWriter>(nowhere.get(), protocol::SealKey{}, protocol::Ping{});  // Pings stop
  EXPECT_TRUE(until([&] { return connections_ == 2; }));
  session_->send(protocol::SuspendJob{JobId{1}});
  EXPECT_TRUE(until([&] { return reports_.size() == 1; }));
  EXPECT_EQ(lost_, "");
}

}  // namespace
}  // namespace replay::launcher
