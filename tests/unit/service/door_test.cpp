// The door of a service against clients of all kinds: those that ask, and those that say nothing, too much, nonsense, or
// take no answer.
#include "scheduler/service/door.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/base/loop/loop_event.hpp"
#include "scheduler/service/busy_door.hpp"
#include "tests/support/background.hpp"
#include "tests/support/service_client.hpp"

namespace replay::service {
namespace {

using namespace std::chrono_literals;
using test::ServiceClient;

class DoorTest : public testing::Test {
 protected:
  void open(DoorLimits limits = {}) {
    socket_ = listen_at(path());
    door_ = std::make_unique<Door>(
        loop_.get(), socket_.get(),
        [this](Door::Client client, uid_t, gid_t, Request request) {
          if (std::holds_alternative<WaitForJob>(request)) return waiting_.push_back(client);
          ++asked_;
          door_->answer(client, Refused{answer_});
        },
        limits);
  }
  std::filesystem::path path() const { return folder_.path() / "socket"; }
  /// Runs the loop until it is true, 10 s at most.
  template <class Condition>
  bool wait_for(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      const timeval pause{0, 1000};
      event_base_loopexit(loop_.get(), &pause);
      event_base_loop(loop_.get(), EVLOOP_ONCE);
    }
    return true;
  }

  TemporaryFolder folder_;
  EventBase loop_ = precise_loop();
  UniqueFd socket_;
  std::unique_ptr<Door> door_;
  std::vector<Door::Client> waiting_;
  int asked_ = 0;
  std::string answer_ = "no";
};

const std::string kAsk = "{\"request\":\"service\"}\n";
const std::string kWait = "{\"request\":\"wait\",\"job\":1}\n";
const std::string kNo = "{\"ok\":false,\"error\":\"no\"}\n";

TEST_F(DoorTest, OnlyTheUserMayConnect) {
  open();
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(DoorTest, RequestsAreAnsweredInOrderHoweverTheyArrive) {
  open();
  ServiceClient client{path()};
  for (const char c : kAsk) {
    client.send({&c, 1});
    event_base_loop(loop_.get(), EVLOOP_NONBLOCK);
  }
  client.send(kAsk + kAsk);
  ASSERT_TRUE(wait_for([&] { return client.take() == kNo + kNo + kNo; })) << client.take();
  EXPECT_FALSE(client.is_closed());
}

TEST_F(DoorTest, ARequestThatWaitsHoldsBackTheNextOfItsClientOnly) {
  open();
  ServiceClient patient{path()};
  ServiceClient other{path()};
  patient.send(kWait + kAsk);
  other.send(kAsk);
  ASSERT_TRUE(wait_for([&] { return waiting_.size() == 1 && other.take() == kNo; }));
  EXPECT_EQ(patient.take(), "");
  EXPECT_EQ(asked_, 1);
  door_->answer(waiting_.front(), Refused{"later"});
  EXPECT_TRUE(wait_for([&] { return patient.take() == "{\"ok\":false,\"error\":\"later\"}\n" + kNo; }));
}

TEST_F(DoorTest, AClientThatHasGoneIsForgottenAndItsAnswerDropped) {
  open();
  auto client = std::make_optional<ServiceClient>(path());
  client->send(kWait);
  ASSERT_TRUE(wait_for([&] { return waiting_.size() == 1; }));
  EXPECT_TRUE(door_->has(waiting_.front()));
  client.reset();
  ASSERT_TRUE(wait_for([&] { return !door_->has(waiting_.front()); }));
  door_->answer(waiting_.front(), Refused{"late"});
}

TEST_F(DoorTest, AClientThatOnlySaysNoMoreGetsItsAnswers) {
  open();
  ServiceClient client{path()};
  client.send(kAsk + kWait);
  client.say_no_more();
  ASSERT_TRUE(wait_for([&] { return waiting_.size() == 1; }));
  door_->answer(waiting_.front(), Refused{"no"});
  EXPECT_TRUE(wait_for([&] { return client.is_closed(); }));
  EXPECT_EQ(client.take(), kNo + kNo);
}

TEST_F(DoorTest, WhatIsNoRequestGetsASentenceAndTheDoorCloses) {
  open();
  ServiceClient client{path()};
  client.send("hello\n" + kAsk);
  ASSERT_TRUE(wait_for([&] { return client.is_closed(); }));
  EXPECT_EQ(client.take().find("{\"ok\":false,\"error\":\"request: expected a JSON object"), 0U) << client.take();
  EXPECT_EQ(asked_, 0);
}

TEST_F(DoorTest, ALineThatIsTooLongIsRefusedBeforeItsEnd) {
  open({.line = 1000});
  ServiceClient client{path()};
  client.send(std::string(5000, ' '));
  ASSERT_TRUE(wait_for([&] { return client.is_closed(); }));
  EXPECT_EQ(client.take(), "{\"ok\":false,\"error\":\"request: expected a line of at most 1000 bytes\"}\n");
}

TEST_F(DoorTest, AClientThatSendsNoWholeLineIsDropped) {
  open({.request = 30ms});
  ServiceClient silent{path()};
  ServiceClient half{path()};
  half.send("{\"request\":");
  EXPECT_TRUE(wait_for([&] { return silent.is_closed() && half.is_closed(); }));
}

TEST_F(DoorTest, BetweenRequestsAClientMayBeSilent) {
  open({.request = 30ms});
  ServiceClient client{path()};
  client.send(kAsk);
  ASSERT_TRUE(wait_for([&] { return client.take() == kNo; }));
  ServiceClient witness{path()};  // dropped after the same time
  ASSERT_TRUE(wait_for([&] { return witness.is_closed(); }));
  EXPECT_FALSE(client.is_closed());
}

TEST_F(DoorTest, AClientThatTakesNoAnswersIsDroppedAndReadsNoFurther) {
  answer_ = std::string(100'000, 'x');
  open({.answer = 50ms, .waiting = 1'000'000});
  ServiceClient client{path()};
  std::string many;
  for (int i = 0; i < 1000; ++i) many += kAsk;
  client.send(many);
  ServiceClient other{path()};
  other.send(kWait);
  ASSERT_TRUE(wait_for([&] { return waiting_.size() == 1 && asked_ > 0; }));
  const Door::Client first = waiting_.front() - 1;
  ASSERT_TRUE(wait_for([&] { return !door_->has(first); }));
  EXPECT_LT(asked_, 30) << "what waits for a client is bounded";
}

TEST_F(DoorTest, AClientThatAsksOnAndOnBeforeItIsAnsweredCostsNoTimeAndIsForgottenWhenItHasGone) {
  open({.line = 100, .request = 30ms});
  auto client = std::make_optional<ServiceClient>(path());
  client->send(kWait);
  ASSERT_TRUE(wait_for([&] { return waiting_.size() == 1; }));
  std::string many;
  for (int i = 0; i < 100; ++i) many += kAsk;
  client->send(many);
  int turns = 0;
  const auto until = std::chrono::steady_clock::now() + 100ms;
  const timeval whole{0, 100'000};
  event_base_loopexit(loop_.get(), &whole);
  for (; std::chrono::steady_clock::now() < until; ++turns) event_base_loop(loop_.get(), EVLOOP_ONCE);
  EXPECT_LT(turns, 30) << "it wakes for the bytes, and now and then to look for a client that has gone";
  EXPECT_TRUE(door_->has(waiting_.front()));
  client.reset();
  EXPECT_TRUE(wait_for([&] { return !door_->has(waiting_.front()); }));
  EXPECT_EQ(asked_, 0);
}

TEST_F(DoorTest, RequestsBeyondTheLimitOfOneAreReadAsTheyAreAnswered) {
  open({.line = 100});
  ServiceClient client{path()};
  std::string many, answers;
  for (int i = 0; i < 100; ++i) {
    many += kAsk;
    answers += kNo;
  }
  client.send(many);
  EXPECT_TRUE(wait_for([&] { return client.take() == answers; })) << client.take().size();
}

TEST_F(DoorTest, OneClientTooManyIsToldSo) {
  open({.clients = 2});
  ServiceClient a{path()};
  ServiceClient b{path()};
  ServiceClient c{path()};
  ASSERT_TRUE(wait_for([&] { return c.is_closed(); }));
  EXPECT_EQ(c.take(), "{\"ok\":false,\"error\":\"the service has 2 clients already\"}\n");
  a.send(kAsk);
  EXPECT_TRUE(wait_for([&] { return a.take() == kNo; }));
}

TEST_F(DoorTest, ASocketThatADeadServiceLeftIsReplacedAndAnotherFileIsNot) {
  UniqueFd first = listen_at(path());
  first.reset();
  EXPECT_TRUE(listen_at(path()).is_open());
  const std::filesystem::path file = folder_.path() / "file";
  UniqueFd made{::creat(file.c_str(), 0600)};
  EXPECT_THROW((void)listen_at(file), InputError);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(DoorTest, WhereTheSocketIsThereItListens) {
  std::atomic<bool> is_over{false};
  int refused = 0;
  std::thread client{[&] {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path().c_str());
    while (!is_over) {
      const UniqueFd stream{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
      if (::connect(stream.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        refused += errno == ECONNREFUSED ? 1 : 0;
    }
  }};
  std::vector<UniqueFd> sockets;  // all stay open
  for (int i = 0; i < 500; ++i) {
    sockets.push_back(listen_at(path()));
    std::filesystem::remove(path());
  }
  is_over = true;
  client.join();
  EXPECT_EQ(refused, 0);
}

class BusyDoorTest : public DoorTest {
 protected:
  using Clock = std::chrono::steady_clock;
  /// Whether a new client is answered by the loop, which turns meanwhile. False: the busy door has refused it.
  bool is_answered_by_the_loop(BusyDoor& busy) {
    busy.beat();
    ServiceClient client{path()};
    client.send(kAsk);
    EXPECT_TRUE(wait_for([&] { return busy.beat(), client.lines() > 0; }));
    return client.take() == kNo;
  }
};

TEST_F(BusyDoorTest, ClientsOfALoopThatTurnsAreAnsweredByIt) {
  open();
  BusyDoor busy{socket_.get(), 10s};
  for (const auto end = Clock::now() + 300ms; Clock::now() < end;) ASSERT_TRUE(is_answered_by_the_loop(busy));
}

// On a computer with other work this test may stand still for longer than the patience, and the refusal is right.
TEST_F(BusyDoorTest, AClientToWhichALoopThatTurnsHasNotComeYetIsLeftAlone) {
  constexpr auto kPatience = 300ms;
  open();
  Clock::time_point last = Clock::now();
  Clock::duration longest{};  // from one turn to the next, at most
  BusyDoor busy{socket_.get(), kPatience};
  const auto turn = [&] {
    const auto now = Clock::now();
    busy.beat();
    longest = std::max(longest, Clock::now() - std::exchange(last, now));
  };
  turn();
  ServiceClient client{path()};
  client.send(kAsk);
  for (const auto end = last + 4 * kPatience; Clock::now() < end && !client.is_closed(); turn())
    std::this_thread::sleep_for(1ms);
  const bool is_left_alone = client.take().empty() && !client.is_closed();
  turn();
  EXPECT_TRUE(is_left_alone || longest >= kPatience) << client.take();
}

TEST_F(BusyDoorTest, AClientOfALoopThatStandsStillIsRefusedAfterThePatienceAndALaterOneIsAnsweredByTheLoop) {
  constexpr auto kPatience = 100ms;
  open();
  BusyDoor busy{socket_.get(), kPatience};
  const auto last_turn = Clock::now();
  busy.beat();  // and then no more, as while a policy computes a decision
  ServiceClient client{path()};
  client.send(kAsk);
  EXPECT_TRUE(test::comes_true([&] { return client.is_closed(); }));
  EXPECT_GE(Clock::now() - last_turn, kPatience);
  const std::regex refusal{
      R"(\{"ok":false,"error":"the service is busy since [0-9]+ s, with a decision of its policy or a write to its )"
      R"(journal: nothing was done, try again"\}\n)"};
  EXPECT_TRUE(std::regex_match(client.take(), refusal)) << client.take();
  const int asked = asked_;
  bool is_answered = false;  // the loop may stand still again, on a computer with other work
  for (const auto end = Clock::now() + 10s; !is_answered && Clock::now() < end;)
    is_answered = is_answered_by_the_loop(busy);
  EXPECT_TRUE(is_answered) << "it turns again";
  EXPECT_EQ(asked_, asked + 1) << "what was refused is not carried out";
}

}  // namespace
}  // namespace replay::service
