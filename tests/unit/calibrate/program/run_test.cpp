// Tests of one program under a fake agent: which orders the agent gets, in which order, and what is kept.

#include "scheduler/calibrate/program/run.hpp"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>

#include "scheduler/base/file/unique_fd.hpp"
#include "scheduler/protocol/frame.hpp"

namespace replay::calibrate {
namespace {

using namespace std::chrono_literals;
using Cores = std::vector<std::int32_t>;

constexpr JobId kJob{1};

/// Records the orders and answers them: each statistics report is a second and 100 calls after the last one.
class PlayedAgent {
 public:
  PlayedAgent(event_base* loop, int stream) : line_(bufferevent_socket_new(loop, stream, 0)) {
    bufferevent_setcb(
        line_.get(), [](bufferevent*, void* self) { static_cast<PlayedAgent*>(self)->read(); }, nullptr, nullptr, this);
    bufferevent_enable(line_.get(), EV_READ | EV_WRITE);
  }

  bool is_malleable = true;
  bool is_late = false;       ///< with `is_malleable`: not at first
  bool is_vanishing = false;  ///< closes the connection when asked to launch
  bool refuses_moves = false;
  bool ends_at_once = false;  ///< before the ranks are there
  int statistics_before_the_end = 6;
  int statistics_before_a_rank_is_gone = 1000;

  std::string heard;  ///< one word per order, statistics left out
  std::vector<Cores> moves;

 private:
  void read() {
    evbuffer* input = bufferevent_get_input(line_.get());
    std::string bytes(evbuffer_get_length(input), '\0');
    evbuffer_remove(input, bytes.data(), bytes.size());
    decoder_.feed(bytes);
    while (const auto frame = decoder_.next())
      std::visit([this](const auto& order) { on(order); }, protocol::decode_order(*frame));
  }
  void say(const protocol::AgentReport& report) {
    const std::string bytes = protocol::encode(report);
    bufferevent_write(line_.get(), bytes.data(), bytes.size());
  }
  void say_end(Outcome outcome) {
    JobEnd end;
    end.outcome = outcome;
    say(protocol::JobEnded{kJob, end});
  }

  void on(const protocol::LaunchJob&) {
    heard += "launch ";
    if (is_vanishing) {
      ::shutdown(bufferevent_getfd(line_.get()), SHUT_RDWR);
    } else if (ends_at_once) {
      say_end(Outcome::kCompleted);
    } else {
      if (is_late) say(protocol::JobStarted{kJob, false, "not yet"});
      say(protocol::JobStarted{kJob, is_malleable, is_malleable ? "" : "it is a stone"});
    }
  }
  void on(const protocol::AskStatistics&) {
    if (asked_ == statistics_before_the_end) return say_end(Outcome::kCompleted);
    ++asked_;
    protocol::JobStatistics now{kJob, static_cast<std::uint64_t>(asked_) * 1'000'000'000U, "progress", "token", {}};
    for (const std::int32_t pid : {11, 12}) {
      now.ranks.emplace_back();
      now.ranks.back().pid = pid;
      now.ranks.back().calls = static_cast<std::uint64_t>(asked_) * 100;
      if (asked_ <= statistics_before_a_rank_is_gone) now.ranks.back().cpu_ns = static_cast<std::uint64_t>(asked_);
    }
    say(now);
  }
  void on(const protocol::MoveRanks& order) {
    heard += "move ";
    moves.push_back(order.core_of_rank);
    if (refuses_moves) return say(protocol::OrderFailed{kJob, "resize", "no"});
    say(protocol::RanksMoved{kJob});
  }
  void on(const protocol::SuspendJob&) {
    heard += "suspend ";
    say(protocol::JobSuspended{kJob});
  }
  void on(const protocol::ResumeJob&) {
    heard += "resume ";
    say(protocol::JobResumed{kJob});
  }
  void on(const protocol::EndJob& order) {
    heard += "end ";
    say_end(order.outcome);
  }
  template <class Other>
  void on(const Other&) {
    heard += "other ";
  }

  struct Deleter {
    void operator()(bufferevent* line) const { bufferevent_free(line); }
  };
  std::unique_ptr<bufferevent, Deleter> line_;
  protocol::FrameDecoder decoder_;
  int asked_ = 0;
};

class ProgramRunTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
    loop_.reset(event_base_new());
    agent_ = std::make_unique<PlayedAgent>(loop_.get(), theirs_.get());
  }

  /// Runs the program to the job's end. `on_change` may call end().
  ProgramHistory run(const ChangeTexts& changes, const std::function<void(ProgramRun&)>& on_change = {}) {
    ProgramOrder order;
    order.launch.job = kJob;
    order.launch.command = {"program"};
    order.launch.core_of_rank = {4, 5};
    order.shrunk_to = {4, 4};
    std::unique_ptr<ProgramRun> run;
    run = std::make_unique<ProgramRun>(
        loop_.get(), ours_.get(), order, ChangePlan{changes}, [](const auto&) {},
        [&](const auto&, const auto&) {
          if (on_change) on_change(*run);
        });
    run->launch();
    event_base_dispatch(loop_.get());
    return run->history();
  }

  static ChangeTexts shrink_and_expand() {
    ChangeTexts texts;
    texts.shrink_at = {"1ms"};
    texts.expand_at = {"2ms"};
    return texts;
  }

  UniqueFd ours_;
  UniqueFd theirs_;
  EventBase loop_;
  std::unique_ptr<PlayedAgent> agent_;
};

TEST_F(ProgramRunTest, APhaseEndsBeforeTheOrderAndTheNextBeginsAfterTheAnswer) {
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_EQ(agent_->heard, "launch move move ");
  EXPECT_EQ(agent_->moves, (std::vector<Cores>{{4, 4}, {4, 5}}));
  ASSERT_EQ(history.phases.size(), 3U);
  EXPECT_EQ(history.phases[0].kind, (PhaseKind{.ranks = 2, .cores = 2, .ranks_per_core = 1}));
  EXPECT_EQ(history.phases[1].kind, (PhaseKind{.ranks = 2, .cores = 1, .ranks_per_core = 2, .is_base = false}));
  EXPECT_EQ(history.phases[2].kind, history.phases[0].kind);
  for (std::size_t i = 0; i < 2; ++i) {  // each has statistics of its own at both ends
    EXPECT_DOUBLE_EQ(history.phases[i].seconds, 1);
    EXPECT_EQ(history.phases[i].calls, 200U);
  }
  ASSERT_EQ(history.changes.size(), 2U);
  EXPECT_GE(history.changes[0].at, 0.001);
  EXPECT_GT(history.changes[0].took, 0);
  EXPECT_EQ(history.mode, "progress");
  EXPECT_EQ(history.back_end, "token");
  EXPECT_EQ(history.end.value().outcome, Outcome::kCompleted);
}

TEST_F(ProgramRunTest, TheLastPhaseEndsWithTheLastSampleBeforeTheJobs) {
  agent_->statistics_before_the_end = 4;
  const ProgramHistory history = run({});
  ASSERT_EQ(history.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(history.phases[0].seconds, 3);
}

TEST_F(ProgramRunTest, ASampleOfRanksThatAreGoneIsNone) {
  agent_->statistics_before_the_end = 4;
  agent_->statistics_before_a_rank_is_gone = 2;
  const ProgramHistory history = run({});
  ASSERT_EQ(history.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(history.phases[0].seconds, 1);
}

TEST_F(ProgramRunTest, ARigidJobIsSuspendedButNeverMoved) {
  agent_->is_malleable = false;
  ChangeTexts changes = shrink_and_expand();
  changes.suspend_at = {"1ms"};
  changes.resume_at = {"2ms"};
  const ProgramHistory history = run(changes);
  EXPECT_EQ(agent_->heard, "launch suspend resume ");
  EXPECT_TRUE(history.has_skipped);
  EXPECT_EQ(history.started.value().reason, "it is a stone");
  ASSERT_EQ(history.phases.size(), 3U);
  EXPECT_TRUE(history.phases[1].kind.is_suspended);
}

TEST_F(ProgramRunTest, AJobThatTurnsOutMalleableLateIsMovedAfterAll) {
  agent_->is_late = true;
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_EQ(agent_->heard, "launch move move ");
  EXPECT_FALSE(history.has_skipped);
  EXPECT_TRUE(history.started.value().malleable);
}

TEST_F(ProgramRunTest, ARefusedChangeLeavesTheJobAsItWas) {
  agent_->refuses_moves = true;
  const ProgramHistory history = run(shrink_and_expand());
  ASSERT_EQ(history.changes.size(), 2U);
  EXPECT_EQ(history.changes[0].refused, "no");
  ASSERT_EQ(history.phases.size(), 3U);
  EXPECT_EQ(history.phases[1].kind, history.phases[0].kind);
}

TEST_F(ProgramRunTest, EndingTheJobKeepsWhatWasMeasured) {
  agent_->statistics_before_the_end = 1000;
  const ProgramHistory history = run(shrink_and_expand(), [](ProgramRun& run) { run.end(); });
  EXPECT_EQ(agent_->heard, "launch move end ");
  EXPECT_EQ(history.end.value().outcome, Outcome::kKilled);
  EXPECT_EQ(history.phases.front().calls, 200U);
}

TEST_F(ProgramRunTest, AProgramThatEndsBeforeItsRanksAreThereHasNoPhases) {
  agent_->ends_at_once = true;
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_FALSE(history.started.has_value());
  EXPECT_TRUE(history.phases.empty());
  EXPECT_TRUE(history.end.has_value());
}

TEST_F(ProgramRunTest, ALostAgentEndsTheRunWithItsReason) {
  agent_->is_vanishing = true;
  const ProgramHistory history = run({});
  EXPECT_FALSE(history.end.has_value());
  EXPECT_NE(history.lost.find("agent"), std::string::npos) << history.lost;
}

}  // namespace
}  // namespace replay::calibrate
