// Tests of one program under a fake executor: which orders that gets, in which order, and what is kept.

#include "scheduler/calibrate/program/run.hpp"

#include <event2/event.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

namespace replay::calibrate {
namespace {

using namespace std::chrono_literals;
using CoreIds = std::vector<CoreId>;

constexpr JobId kJob{1};

/// Records the orders and answers them from the loop: each statistics report is a second and 100 calls after the last
/// one.
class PlayedExecutor final : public launcher::MeasuredExecutor {
 public:
  bool is_malleable = true;
  bool is_late = false;       ///< with `is_malleable`: not at first
  bool is_vanishing = false;  ///< is lost when asked to launch
  bool refuses_moves = false;
  bool ends_at_once = false;  ///< before the ranks are there
  int statistics_before_the_end = 6;
  int statistics_before_a_rank_is_gone = 1000;

  std::string heard;  ///< one word per order, statistics left out
  std::vector<CoreIds> moves;

  void attach(event_base* loop, live::ExecutorListener* listener) override {
    listener_ = listener;
    said_event_ = std::make_unique<LoopEvent>(loop, -1, 0, [this] {
      for (const auto& say : std::exchange(said_, {}))
        if (listener_ != nullptr) say();
    });
  }
  void detach() override { listener_ = nullptr; }
  void tell_statistics_to(OnStatistics on_statistics) override { on_statistics_ = std::move(on_statistics); }

  void launch(const live::LaunchOrder&) override {
    heard += "launch ";
    if (is_vanishing) return say([this] { listener_->on_lost("the node agent has died"); });
    if (ends_at_once) return say_end(Outcome::kCompleted);
    if (is_late) say([this] { listener_->on_started(kJob, false, "not yet"); });
    say([this] { listener_->on_started(kJob, is_malleable, is_malleable ? "" : "it is a stone"); });
  }
  void ask_statistics(JobId) override {
    if (asked_ == statistics_before_the_end) return say_end(Outcome::kCompleted);
    ++asked_;
    protocol::JobStatistics now{kJob, static_cast<std::uint64_t>(asked_) * 1'000'000'000U, "progress", "token", {}};
    for (const std::int32_t pid : {11, 12}) {
      now.ranks.emplace_back();
      now.ranks.back().pid = pid;
      now.ranks.back().calls = static_cast<std::uint64_t>(asked_) * 100;
      if (asked_ <= statistics_before_a_rank_is_gone) now.ranks.back().cpu_ns = static_cast<std::uint64_t>(asked_);
    }
    say([this, now] { on_statistics_(now); });
  }
  void resize(JobId, const std::vector<CoreId>& core_of_rank) override {
    heard += "move ";
    moves.push_back(core_of_rank);
    if (refuses_moves) return say([this] { listener_->on_action_failed(kJob, "resize", "no"); });
    say([this] { listener_->on_resized(kJob); });
  }
  void suspend(JobId) override {
    heard += "suspend ";
    say([this] { listener_->on_suspended(kJob); });
  }
  void resume(JobId) override {
    heard += "resume ";
    say([this] { listener_->on_resumed(kJob); });
  }
  void end(JobId, Outcome reason) override {
    heard += "end ";
    say_end(reason);
  }

 private:
  void say(std::function<void()> what) {
    said_.push_back(std::move(what));
    said_event_->arm_after(0us);
  }
  void say_end(Outcome outcome) {
    JobEnd end;
    end.outcome = outcome;
    say([this, end] { listener_->on_ended(kJob, end); });
  }

  live::ExecutorListener* listener_ = nullptr;
  OnStatistics on_statistics_;
  std::vector<std::function<void()>> said_;
  std::unique_ptr<LoopEvent> said_event_;
  int asked_ = 0;
};

class ProgramRunTest : public testing::Test {
 protected:
  /// Runs the program to the job's end. `on_change` may call end().
  ProgramHistory run(const ChangeTexts& changes, const std::function<void(ProgramRun&)>& on_change = {}) {
    ProgramOrder order;
    order.launch.job = kJob;
    order.launch.command = {"program"};
    order.launch.core_of_rank = {CoreId{4}, CoreId{5}};
    order.shrunk_to = {CoreId{4}, CoreId{4}};
    std::unique_ptr<ProgramRun> run;
    run = std::make_unique<ProgramRun>(
        loop_.get(), executor_, order, ChangePlan{changes}, [](const auto&) {},
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

  EventBase loop_{event_base_new()};
  PlayedExecutor executor_;
};

TEST_F(ProgramRunTest, APhaseEndsBeforeTheOrderAndTheNextBeginsAfterTheAnswer) {
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_EQ(executor_.heard, "launch move move ");
  EXPECT_EQ(executor_.moves, (std::vector<CoreIds>{{CoreId{4}, CoreId{4}}, {CoreId{4}, CoreId{5}}}));
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
  executor_.statistics_before_the_end = 4;
  const ProgramHistory history = run({});
  ASSERT_EQ(history.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(history.phases[0].seconds, 3);
}

TEST_F(ProgramRunTest, ASampleOfRanksThatAreGoneIsNone) {
  executor_.statistics_before_the_end = 4;
  executor_.statistics_before_a_rank_is_gone = 2;
  const ProgramHistory history = run({});
  ASSERT_EQ(history.phases.size(), 1U);
  EXPECT_DOUBLE_EQ(history.phases[0].seconds, 1);
}

TEST_F(ProgramRunTest, ARigidJobIsSuspendedButNeverMoved) {
  executor_.is_malleable = false;
  ChangeTexts changes = shrink_and_expand();
  changes.suspend_at = {"1ms"};
  changes.resume_at = {"2ms"};
  const ProgramHistory history = run(changes);
  EXPECT_EQ(executor_.heard, "launch suspend resume ");
  EXPECT_TRUE(history.has_skipped);
  EXPECT_EQ(history.started.value().reason, "it is a stone");
  ASSERT_EQ(history.phases.size(), 3U);
  EXPECT_TRUE(history.phases[1].kind.is_suspended);
}

TEST_F(ProgramRunTest, AJobThatTurnsOutMalleableLateIsMovedAfterAll) {
  executor_.is_late = true;
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_EQ(executor_.heard, "launch move move ");
  EXPECT_FALSE(history.has_skipped);
  EXPECT_TRUE(history.started.value().malleable);
}

TEST_F(ProgramRunTest, ARefusedChangeLeavesTheJobAsItWas) {
  executor_.refuses_moves = true;
  const ProgramHistory history = run(shrink_and_expand());
  ASSERT_EQ(history.changes.size(), 2U);
  EXPECT_EQ(history.changes[0].refused, "no");
  ASSERT_EQ(history.phases.size(), 3U);
  EXPECT_EQ(history.phases[1].kind, history.phases[0].kind);
}

TEST_F(ProgramRunTest, EndingTheJobKeepsWhatWasMeasured) {
  executor_.statistics_before_the_end = 1000;
  const ProgramHistory history = run(shrink_and_expand(), [](ProgramRun& run) { run.end(); });
  EXPECT_EQ(executor_.heard, "launch move end ");
  EXPECT_EQ(history.end.value().outcome, Outcome::kKilled);
  EXPECT_EQ(history.phases.front().calls, 200U);
}

TEST_F(ProgramRunTest, AProgramThatEndsBeforeItsRanksAreThereHasNoPhases) {
  executor_.ends_at_once = true;
  const ProgramHistory history = run(shrink_and_expand());
  EXPECT_FALSE(history.started.has_value());
  EXPECT_TRUE(history.phases.empty());
  EXPECT_TRUE(history.end.has_value());
}

TEST_F(ProgramRunTest, ALostExecutorEndsTheRunWithItsReason) {
  executor_.is_vanishing = true;
  const ProgramHistory history = run({});
  EXPECT_FALSE(history.end.has_value());
  EXPECT_EQ(history.lost, "the node agent has died");
}

}  // namespace
}  // namespace replay::calibrate
