// The controller by hand: a body that answers late shows the two steps in which cores change hands.

#include "scheduler/core/controller.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scheduler/core/arrivals.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

std::string text(std::span<const Action> actions) {
  std::string all;
  for (const Action& action : actions) {
    if (!all.empty()) all += "; ";
    if (const auto* start = std::get_if<Start>(&action))
      all += fmt::format("start {} {}", static_cast<char>(start->job), start->allocation.cores);
    else if (const auto* resize = std::get_if<Resize>(&action))
      all += fmt::format("resize {} {}", static_cast<char>(resize->job), resize->allocation.cores);
    else if (const auto* kill = std::get_if<Kill>(&action))
      all += fmt::format("kill {}", static_cast<char>(kill->job));
    else if (const auto* suspend = std::get_if<Suspend>(&action))
      all += fmt::format("suspend {}", static_cast<char>(suspend->job));
    else if (const auto* resume = std::get_if<Resume>(&action))
      all += fmt::format("resume {}", static_cast<char>(resume->job));
    else
      all += "?";
  }
  return all;
}

// A scripted policy: for each pass what it is to answer.
class Script final : public Policy {
 public:
  std::vector<Actions> answers;
  void decide(const ClusterView& view, Actions& out) override {
    free_seen.push_back(view.free.total());
    if (pass_ < answers.size()) out = answers[pass_++];
  }
  CoreCount free_until(const ClusterView& view, Instant) const override { return view.free.total(); }
  bool may_start_now(const ClusterView&, const Job&) const override { return false; }
  std::vector<CoreCount> free_seen;

 private:
  std::size_t pass_ = 0;
};

class TwoSteps : public testing::Test {
 protected:
  std::string happens(Duration when, std::vector<Event> events) { return text(controller_->handle(at(when), events)); }
  void use(Policy& policy, ControllerOptions options = {}) {
    controller_.emplace(
        machine_, policy, [](const Job&, const Allocation& allocation) { return 1.0 / allocation.mpl; }, log_, options);
  }

  Machine machine_ = cores(4);
  MemoryLog log_;
  std::optional<Controller> controller_;
  TracedJob a_ = job('A').cores(4).runs(10min);
  TracedJob b_ = job('B').cores(2).runs(1min);
};

TEST_F(TwoSteps, AStartWaitsUntilTheShrunkJobHasLeftItsCores) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "resize A 2") << "B's cores are still A's";
  EXPECT_EQ(happens(11s, {Resized{id('A')}}), "start B 2");
  EXPECT_EQ(log_.start(id('B')), at(11s)) << "run time counts from the cores being given";
}

TEST_F(TwoSteps, AResizeDecidedDuringAResizeFollowsIt) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "resize A 2");
  EXPECT_EQ(happens(11s, {Cancel{id('B')}}), "") << "B never started; A is to be expanded, but is still being shrunk";
  EXPECT_EQ(happens(12s, {Resized{id('A')}}), "resize A 4");
  EXPECT_EQ(log_.outcome(id('B')), Outcome::kCancelled);
}

TEST_F(TwoSteps, AJobThatEndsWhileItIsResizedFreesAllItHeld) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "resize A 2");
  EXPECT_EQ(happens(11s, {Finish{id('A'), {}}}), "start B 2");
  EXPECT_EQ(happens(12s, {Resized{id('A')}}), "") << "an answer that comes too late";
  EXPECT_EQ(happens(13s, {Finish{id('B'), {}}}), "");
  EXPECT_TRUE(controller_->idle());
}

TEST_F(TwoSteps, AFailedResizeLeavesTheJobAsItWasAndNobodyGetsItsCores) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "resize A 2");
  EXPECT_EQ(happens(11s, {ActionFailed{id('A'), "resize", "a rank is gone"}}), "");
  EXPECT_EQ(happens(20s, {Finish{id('A'), {}}}), "start B 2");
}

TEST_F(TwoSteps, ARankThatCannotShareMakesItsJobRigid) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  happens(1s, {Started{id('A'), false, "no rank registered"}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "");
}

TEST_F(TwoSteps, SuspendAndResumeHandCoresOverAndStopTheBudget) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}}, {Resume{id('A')}}};
  use(script);
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {Suspended{id('A')}}), "start B 2");
  EXPECT_EQ(controller_->next_timer(), at(121s)) << "B's estimate; A's budget stands still";
  EXPECT_EQ(happens(121s, {Finish{id('B'), {}}}), "resume A");
  EXPECT_EQ(happens(122s, {Resumed{id('A')}}), "");
  EXPECT_EQ(controller_->next_timer(), at(122s + 10min - 61s));
}

TEST_F(TwoSteps, AShrunkJobUsesItsBudgetMoreSlowly) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Resize{id('A'), {2, 2, {}}}}};
  use(script);
  happens(0s, {Submit{&a_}});
  happens(5min, {Submit{&b_}});
  happens(5min, {Resized{id('A')}});
  EXPECT_EQ(controller_->next_timer(), at(15min)) << "five minutes of work left, at half speed";
}

TEST_F(TwoSteps, AJobAtItsEstimateIsKilledAfterItsGrace) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}};
  use(script, {Overrun::kKill, [](const Job&) { return Duration{3s}; }});
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(controller_->next_timer(), at(10min + 3s));
  EXPECT_EQ(happens(10min, {}), "");
  EXPECT_EQ(happens(10min + 3s, {}), "kill A");
  EXPECT_EQ(happens(10min + 3s, {}), "") << "once";
  EXPECT_EQ(controller_->next_timer(), kNever);
}

TEST_F(TwoSteps, ExtendGivesATenthOfTheEstimateAndAtLeastAMinute) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}};
  use(script, {Overrun::kExtend, nullptr});
  happens(0s, {Submit{&a_}});
  happens(10min, {});
  EXPECT_EQ(controller_->next_timer(), at(11min));
}

TEST_F(TwoSteps, APolicyThatAsksForTheImpossibleIsNamed) {
  for (const Actions& wrong : {Actions{Start{id('A'), {5, 1, {}}}}, Actions{Start{id('X'), {1, 1, {}}}},
                               Actions{Resize{id('A'), {1, 1, {}}}}, Actions{Resume{id('A')}}}) {
    Script script;
    script.answers = {wrong};
    use(script);
    EXPECT_THROW(happens(0s, {Submit{&a_}}), PolicyError);
  }
}

TEST_F(TwoSteps, AWakeComesAtItsInstantEvenWhenNothingElseHappens) {
  Script script;
  script.answers = {{WakeAt{at(30s)}}, {Start{id('A'), {4, 1, {}}}}};
  use(script);
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "");
  EXPECT_EQ(controller_->next_timer(), at(30s));
  EXPECT_EQ(happens(30s, {}), "start A 4");
}

TEST_F(TwoSteps, InterruptKillsWhatRunsAndCancelsWhatWaits) {
  const auto policy = make_policy("fcfs");
  use(*policy.policy);
  happens(0s, {Submit{&a_}, Submit{&b_}});
  EXPECT_EQ(text(controller_->interrupt(at(1s))), "kill A");
  EXPECT_EQ(log_.outcome(id('B')), Outcome::kCancelled);
  EXPECT_EQ(happens(2s, {Finish{id('A'), {Outcome::kKilled, 0, Verification::kNone, -1, ""}}}), "");
  EXPECT_TRUE(controller_->idle());
}

TEST(ClosedLoop, AJobComesItsThinkTimeAfterTheOneItFollows) {
  const auto log = simulate("fcfs", cores(4),
                            {job('A').cores(1).runs(2min), job('B').cores(1).arrives(1min).runs(1min).follows('A', 30s),
                             job('C').cores(1).arrives(10min).runs(1min).follows('B', 10s)});
  EXPECT_EQ(log.start(id('B')), at(2min + 30s));
  EXPECT_EQ(log.start(id('C')), at(10min)) << "not before its own submit time";
}

TEST(Oversize, AJobWiderThanTheMachineIsRejectedOnceAndNamed) {
  const auto log = simulate("fcfs", cores(4), {job('A').cores(5), job('B').cores(1)});
  EXPECT_EQ(log.outcome(id('A')), Outcome::kRejected);
  EXPECT_EQ(log.outcome(id('B')), Outcome::kCompleted);
}

}  // namespace
}  // namespace replay::test
