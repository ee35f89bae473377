// Tests of the controller with a body that answers late, which shows the two steps in which cores change hands.

#include "scheduler/core/controller.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>

#include "scheduler/core/arrivals.hpp"
#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::test {
namespace {

std::string text(Orders orders) {
  std::string all;
  for (const Order& order : orders) {
    if (!all.empty()) all += "; ";
    if (const auto* launch = std::get_if<order::Launch>(&order))
      all += fmt::format("start {} {}", static_cast<char>(launch->job), launch->allocation.cores);
    else if (const auto* resize = std::get_if<order::Resize>(&order))
      all += fmt::format("resize {} {}", static_cast<char>(resize->job), resize->allocation.cores);
    else if (const auto* end = std::get_if<order::End>(&order))
      all += fmt::format("kill {}", static_cast<char>(end->job));
    else if (const auto* suspend = std::get_if<order::Suspend>(&order))
      all += fmt::format("suspend {}", static_cast<char>(suspend->job));
    else if (const auto* resume = std::get_if<order::Resume>(&order))
      all += fmt::format("resume {}", static_cast<char>(resume->job));
  }
  return all;
}

// Throws a policy's failure.
Orders handled(Controller& controller, Duration when, std::span<const Event> events) {
  const auto orders = controller.handle(at(when), events);
  if (controller.failure()) std::rethrow_exception(controller.failure());
  return orders;
}

// A scripted policy: a list of its answers, pass by pass.
class Script final : public Policy {
 public:
  std::vector<Decisions> answers;
  PassRule rule = PassRule::kInstant;
  PassRule pass_rule() const override { return rule; }
  void decide(const ClusterView& view, Decisions& out) override {
    free_seen.push_back(view.free.total());
    if (pass_ < answers.size()) out = answers[pass_++];
  }
  CoreCount free_until(const ClusterView& view, Instant) const override { return view.free.total(); }
  bool may_start_now(const ClusterView&, const Job&) const override { return false; }
  Duration more_time(const ClusterView&, const RunningJob&) override {
    return asked_ < more_times.size() ? more_times[asked_++] : Duration::zero();
  }
  std::vector<CoreCount> free_seen;
  std::vector<Duration> more_times;

 private:
  std::size_t pass_ = 0;
  std::size_t asked_ = 0;
};

// Every process computes all the time.
class FullLoad final : public SharedCoresModel {
 public:
  double slowdown_of(const Behaviour&, int mpl, double demand) const override { return mpl + demand; }
};

class TwoSteps : public testing::Test {
 protected:
  std::string happens(Duration when, std::vector<Event> events) { return text(handled(*controller_, when, events)); }
  void use(Policy& policy, ControllerOptions options = {}) {
    controller_.emplace(machine_, policy, model_, log_, options);
  }

  Machine machine_ = cores(4);
  FullLoad model_;
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

// Suspended in the same pass in which its estimate is used up: it is extended when it runs again; no pass asks before.
TEST_F(TwoSteps, AJobThatSleepsAtTheEndOfItsEstimateIsExtendedWhenItRunsAgain) {
  Script policy;
  policy.rule = PassRule::kEvent;
  policy.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}}, {Resume{id('A')}}};
  use(policy, {Overrun::kExtend, nullptr});
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_EQ(happens(10min, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(10min + 1s, {Suspended{id('A')}}), "start B 2");
  EXPECT_EQ(controller_->next_timer(), at(11min + 1s)) << "the end of B's estimate";
  EXPECT_EQ(happens(11min, {Finish{id('B'), {}}}), "resume A");
  happens(11min + 1s, {Resumed{id('A')}});
  happens(11min + 1s, {});
  EXPECT_EQ(controller_->next_timer(), at(12min + 1s)) << "a tenth of ten minutes more";
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

TEST_F(TwoSteps, AJobThatIsSuspendedInItsGraceHasTheRestOfItWhenItRunsAgain) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}}, {Resume{id('A')}}};
  use(script, {Overrun::kKill, [](const Job&) { return 60s; }});
  happens(0s, {Submit{&a_}});
  happens(10min, {});
  EXPECT_EQ(happens(10min + 20s, {Submit{&b_}}), "suspend A");
  happens(10min + 20s, {Suspended{id('A')}});
  EXPECT_EQ(happens(11min + 20s, {Finish{id('B'), {}}}), "resume A");
  EXPECT_EQ(happens(11min + 20s, {Resumed{id('A')}}), "") << "it is not killed at once";
  EXPECT_EQ(controller_->next_timer(), at(12min)) << "40 s of its grace are left";
}

TEST_F(TwoSteps, ASuspensionDecidedDuringAResumeFollowsIt) {
  Script script;
  const TracedJob c = job('C').cores(1).runs(1min);
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}}, {Resume{id('A')}}, {Suspend{id('A')}}};
  use(script);
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  happens(61s, {Suspended{id('A')}});
  EXPECT_EQ(happens(62s, {Submit{&c}}), "resume A");
  EXPECT_EQ(happens(63s, {Cancel{id('C')}}), "") << "the body has not answered yet";
  EXPECT_EQ(happens(64s, {Resumed{id('A')}}), "suspend A");
  happens(65s, {Suspended{id('A')}});
  EXPECT_EQ(controller_->next_timer(), kNever) << "its budget stands still";
}

TEST_F(TwoSteps, ASuspensionDecidedDuringAResizeFollowsItEvenIfThatFails) {
  for (const Event& answer : {Event{Resized{id('A')}}, Event{ActionFailed{id('A'), "resize", "a thread is lost"}}}) {
    Script script;
    script.answers = {{Start{id('A'), {4, 1, {}}}}, {Resize{id('A'), {2, 2, {}}}}, {Suspend{id('A')}}};
    use(script);
    const TracedJob c = job('C').cores(1).runs(1min);
    happens(0s, {Submit{&a_}});
    EXPECT_EQ(happens(60s, {Submit{&b_}}), "resize A 2");
    EXPECT_EQ(happens(61s, {Submit{&c}}), "") << "the body has not answered yet";
    EXPECT_EQ(happens(62s, {answer}), "suspend A");
  }
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

TEST_F(TwoSteps, APolicyMayGrantMoreTimeAndItsNotesAreInTheLog) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}, Note{"a note"}}};
  script.more_times = {30s};
  use(script, {Overrun::kPolicy, nullptr});
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4") << "a note reaches no body";
  EXPECT_EQ(happens(10min, {}), "");
  EXPECT_EQ(controller_->next_timer(), at(10min + 30s));
  EXPECT_EQ(happens(10min + 30s, {}), "kill A") << "none is granted the second time";
  const auto is_note = [](const log::Record& record) {
    const auto* note = std::get_if<log::Note>(&record.what);
    return note != nullptr && note->text == "a note";
  };
  EXPECT_EQ(std::ranges::count_if(log_.records(), is_note), 1);
}

TEST_F(TwoSteps, APolicyThatAsksForTheImpossibleIsNamed) {
  for (const Decisions& wrong : {Decisions{Start{id('A'), {5, 1, {}}}}, Decisions{Start{id('X'), {1, 1, {}}}},
                                 Decisions{Resize{id('A'), {1, 1, {}}}}, Decisions{Resume{id('A')}}}) {
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

TEST_F(TwoSteps, AResumeDecidedBeforeTheJobHasStoppedFollowsIt) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}}, {Resume{id('A')}}};
  use(script);
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {Cancel{id('B')}}), "") << "A is to go on, but is still being stopped";
  EXPECT_EQ(happens(62s, {Suspended{id('A')}}), "resume A");
}

TEST_F(TwoSteps, NothingIsOrderedOfAJobThatIsBeingKilled) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}},
                    {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}},
                    {Suspend{id('B')}, Resume{id('A')}}};
  use(script);
  const TracedJob c = job('C').cores(1);
  happens(0s, {Submit{&a_}});
  happens(10s, {Submit{&b_}});
  EXPECT_EQ(happens(11s, {Suspended{id('A')}}), "start B 2");
  EXPECT_EQ(happens(20s, {Submit{&c}}), "suspend B") << "A waits for B's cores";
  EXPECT_EQ(happens(21s, {Cancel{id('A')}}), "kill A");
  EXPECT_EQ(happens(22s, {Suspended{id('B')}}), "") << "the cores are free, but A is not resumed any more";
}

// Four named cores; A, B and C need half of them each.
class SharedSteps : public testing::Test {
 protected:
  std::string happens(Duration when, std::vector<Event> events) { return text(handled(*controller_, when, events)); }
  void use(std::vector<Decisions> answers, ControllerOptions options = {}) {
    script_ = Script{};
    script_.answers = std::move(answers);
    controller_.emplace(machine_, script_, model_, log_, options);
  }
  // The controller's error about a policy that starts A on cores 0 and 1, and then does `wrong`.
  std::string refusal(const Decision& wrong, bool shareable = true) {
    use({{Start{id('A'), half(0, shareable)}}, {wrong}});
    happens(0s, {Submit{&a_}});
    try {
      happens(1s, {Submit{&b_}});
    } catch (const PolicyError& error) {
      return error.what();
    }
    return "";
  }
  static Allocation half(int first, bool shareable = true) {
    return {2, 1, core_loads({{first, 1}, {first + 1, 1}}), shareable};
  }

  Machine machine_ = Machine::cluster(2, 1, 2);
  FullLoad model_;
  MemoryLog log_;
  Script script_;
  std::optional<Controller> controller_;
  TracedJob a_ = job('A').cores(2).runs(10min);
  TracedJob b_ = job('B').cores(2).runs(1min);
  TracedJob c_ = job('C').cores(2).runs(1min);
};

TEST_F(SharedSteps, TwoJobsAreOnACoreAtOnceAndTheThirdWaitsUntilOneHasLeft) {
  use({{Start{id('A'), half(0)}}, {Start{id('B'), half(0)}}, {Suspend{id('B')}, Start{id('C'), half(0)}}});
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 2");
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "start B 2") << "nobody has to leave";
  EXPECT_EQ(happens(20s, {Submit{&c_}}), "suspend B") << "C has B's place in the plan, but B is still there";
  EXPECT_EQ(happens(21s, {Suspended{id('B')}}), "start C 2");
  EXPECT_EQ(script_.free_seen, (std::vector<CoreCount>{4, 2, 2})) << "a core that is shared is taken once";
}

TEST_F(SharedSteps, BudgetsGoAtTheRateThatNeighboursLeave) {
  // At half speed from 1 min on: B's budget of 1 min is over at 3 min, when A has used 2 of its 10.
  use({{Start{id('A'), half(0)}}, {Start{id('B'), half(0)}}});
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(controller_->next_timer(), at(10min));
  happens(1min, {Submit{&b_}});
  EXPECT_EQ(controller_->next_timer(), at(3min));
  happens(3min, {Finish{id('B'), {}}});
  EXPECT_EQ(controller_->next_timer(), at(11min)) << "eight minutes of work, alone again";
}

TEST_F(SharedSteps, ANeighbourThatIsLateIsCountedFromWhenItComes) {
  use({{Start{id('A'), half(0)}, Start{id('B'), half(0)}}, {Suspend{id('B')}, Start{id('C'), half(0)}}});
  happens(0s, {Submit{&a_}, Submit{&b_}});
  happens(1min, {Submit{&c_}});
  EXPECT_EQ(controller_->next_timer(), at(2min)) << "B is still there: A at half speed, B half done";
  happens(90s, {Suspended{id('B')}});
  // C's minute takes until 90 s + 2 min.
  EXPECT_EQ(controller_->next_timer(), at(3min + 30s));
}

TEST_F(SharedSteps, ANeighbourThatComesDuringTheGraceDoesNotProlongIt) {
  use({{Start{id('A'), half(0)}}, {Start{id('B'), half(0)}}},
      {Overrun::kKill, [](const Job&) { return Duration{3s}; }});
  happens(0s, {Submit{&a_}});
  happens(10min, {});
  EXPECT_EQ(happens(10min + 1s, {Submit{&b_}}), "start B 2");
  EXPECT_EQ(controller_->next_timer(), at(10min + 3s));
  EXPECT_EQ(happens(10min + 3s, {}), "kill A");
}

TEST_F(SharedSteps, WhatAPolicyMayNotDoIsNamed) {
  EXPECT_EQ(refusal(Start{id('B'), half(0, false)}), "the policy starts job 66 on 2 cores: core 0 has no room");
  EXPECT_EQ(refusal(Start{id('B'), half(0)}, false), "the policy starts job 66 on 2 cores: core 0 has no room")
      << "A wants to be alone";
  EXPECT_EQ(refusal(Start{id('B'), {2, 1, core_loads({{2, 1}, {2, 1}})}}),
            "the policy starts job 66 on 2 cores: it names a core twice");
  EXPECT_EQ(refusal(Start{id('B'), {1, 1, core_loads({{2, 1}})}}),
            "the policy starts job 66 on 1 cores: they do not carry 2 processes");
  EXPECT_EQ(refusal(Start{id('B'), {3, 1, {}}}), "") << "the controller chooses the cores: two";
  EXPECT_EQ(refusal(Resize{id('A'), half(0, false)}),
            "the policy resizes job 65 and changes whether it shares its cores: that is for life");
  EXPECT_EQ(refusal(Resize{id('A'), half(2)}), "the policy resizes job 65 and moves processes of it to another node");
  EXPECT_EQ(refusal(Resize{id('A'), {2, 1, core_loads({{1, 1}, {0, 1}}), true}}), "")
      << "within its node a job may move";
}

TEST_F(SharedSteps, AThirdJobOnACoreIsRefused) {
  use({{Start{id('A'), half(0)}, Start{id('B'), half(0)}}, {Start{id('C'), half(0)}}});
  happens(0s, {Submit{&a_}, Submit{&b_}});
  EXPECT_THROW(happens(1s, {Submit{&c_}}), PolicyError);
}

TEST_F(SharedSteps, CoresThatThePolicyLeavesToTheControllerAreSharedAsItAsks) {
  use({{Start{id('A'), {2, 1, {}, true}}}, {Resize{id('A'), {1, 2, {}}}}, {Resize{id('A'), {2, 1, {}}}}});
  happens(0s, {Submit{&a_}});
  happens(1s, {Submit{&b_}});
  happens(2s, {Resized{id('A')}});
  happens(3s, {Submit{&c_}});
  std::vector<Allocation> decided;
  for (const log::Record& record : log_.records()) {
    if (const auto* start = std::get_if<log::StartDecided>(&record.what)) decided.push_back(start->allocation);
    if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what)) decided.push_back(resize->allocation);
  }
  EXPECT_EQ(decided, (std::vector<Allocation>{half(0), {1, 2, core_loads({{0, 2}}), true}, half(0)}));
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

// Breaks an invariant of its own in its second pass.
class Broken final : public Policy {
 public:
  explicit Broken(PassRule rule) : rule_(rule) {}
  PassRule pass_rule() const override { return rule_; }
  void decide(const ClusterView& view, Decisions& out) override {
    ++asked;
    INVARIANT(asked < 2, "{} of {} cores reserved", 4, 2);
    for (const Job* job : view.waiting)
      if (job->processes <= view.free.total()) return out.emplace_back(Start{job->id, {job->processes, 1, {}}}), void();
  }
  CoreCount free_until(const ClusterView& view, Instant) const override { return view.free.total(); }
  bool may_start_now(const ClusterView&, const Job&) const override { return false; }

  int asked = 0;

 private:
  PassRule rule_;
};

TEST_F(TwoSteps, ABrokenInvariantOfAPolicyIsItsFailureAndAllEventsOfTheInstantAreTaken) {
  for (const PassRule rule : {PassRule::kInstant, PassRule::kEvent}) {
    log_ = {};
    Broken policy{rule};
    use(policy);
    EXPECT_EQ(happens(0s, {Submit{&b_}}), "start B 2");
    TracedJob c = job('C').cores(1);
    EXPECT_EQ(text(controller_->handle(at(5s), std::vector<Event>{Submit{&c}, Submit{&a_}})), "") << "nothing starts";
    ASSERT_NE(controller_->failure(), nullptr);
    try {
      std::rethrow_exception(controller_->failure());
    } catch (const PolicyError& error) {
      EXPECT_NE(std::string{error.what()}.find("the policy is wrong at 5 s"), std::string::npos) << error.what();
      EXPECT_NE(std::string{error.what()}.find("4 of 2 cores reserved"), std::string::npos) << error.what();
    }
    EXPECT_EQ(text(controller_->interrupt(at(5s), "the policy has failed")), "kill B");
    EXPECT_EQ(
        text(controller_->handle(
            at(6s), std::vector<Event>{Finish{id('B'), JobEnd{Outcome::kKilled, 0, Verification::kNone, -1, ""}}})),
        "");
    EXPECT_TRUE(controller_->idle());
    EXPECT_EQ(policy.asked, 2) << "it is not asked again";
    EXPECT_EQ(what_is_wrong(log_, machine_), "");
    EXPECT_EQ(log_.outcome(id('A')), Outcome::kCancelled);
    EXPECT_EQ(log_.outcome(id('C')), Outcome::kCancelled);
  }
}

TEST_F(TwoSteps, AfterARefusedDecisionTheRunCanStillBeEnded) {
  Script policy;
  policy.answers = {{Start{id('A'), {4, 1, {}}}}, {Resize{id('A'), {5, 1, {}}}}};
  use(policy);
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_THROW(happens(1s, {Submit{&b_}}), PolicyError);
  EXPECT_EQ(text(controller_->interrupt(at(1s))), "kill A");
  EXPECT_EQ(text(controller_->handle(
                at(2s), std::vector<Event>{Finish{id('A'), JobEnd{Outcome::kKilled, 0, Verification::kNone, -1, ""}}})),
            "");
  EXPECT_TRUE(controller_->idle());
  EXPECT_EQ(what_is_wrong(log_, machine_), "");
}

TEST(Simulation, APolicyThatBreaksAnInvariantLeavesALogWithTheEndOfEachJobThatCame) {
  Broken policy{PassRule::kInstant};
  MemoryLog log;
  const Workload workload{{job('A').cores(2).runs(10s), job('B').cores(2).arrives(3s), job('C').arrives(30s)}};
  EXPECT_THROW(replay::simulate(cores(4), workload, policy, *make_runtime_model("rigid"), log, {}), PolicyError);
  EXPECT_EQ(what_is_wrong(log, cores(4)), "");
  EXPECT_EQ(log.outcome(id('A')), Outcome::kKilled);
  EXPECT_EQ(log.outcome(id('B')), Outcome::kCancelled);
}

}  // namespace
}  // namespace replay::test
