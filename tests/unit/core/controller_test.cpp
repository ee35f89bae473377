// Tests of the controller with a body that answers late, which shows the two steps in which cores change hands.
#include "scheduler/core/controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/policy/registry.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/core/controller_fixture.hpp"

namespace replay::test {
namespace {

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
  Script policy{PassRule::kEvent};
  policy.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}}, {Resume{id('A')}}};
  use(policy, {Overrun::kExtend, nullptr});
  EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  EXPECT_EQ(happens(10min, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(10min + 1s, {Suspended{id('A')}}), "start B 2");
  EXPECT_EQ(controller_->next_timer(), at(11min + 1s)) << "the end of B's estimate";
  EXPECT_EQ(happens(11min, {Finish{id('B'), {}}}), "resume A");
  happens(11min + 1s, {Resumed{id('A')}});
  happens(11min + 1s, {});
  EXPECT_EQ(controller_->next_timer(), at(12min)) << "a tenth of ten minutes more; it has run a second of it";
}

// ---- time limits of real runs ---------------------------------------------------------------------------------------

const ControllerOptions kReal{.overrun = Overrun::kKill, .grace = {}, .reports_begin = true};

TEST_F(TwoSteps, ATimeLimitBeginsWhenTheRanksHaveBeenStarted) {
  for (const PassRule rule : {PassRule::kInstant, PassRule::kEvent}) {
    Script script{rule};
    script.answers = {{Start{id('A'), {4, 1, {}}}}};
    use(script, kReal);
    EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
    EXPECT_EQ(happens(12min, {}), "") << "its estimate is over, and it has not begun";
    EXPECT_EQ(controller_->next_timer(), kNever);
    EXPECT_EQ(happens(13min, {Begun{id('A')}}), "");
    EXPECT_EQ(controller_->next_timer(), at(23min));
    happens(14min, {Begun{id('A')}, Started{id('A'), true, ""}});
    EXPECT_EQ(happens(23min - 1s, {}), "") << "it is told again, and begins once";
    EXPECT_EQ(happens(23min, {}), "kill A");
  }
}

TEST_F(TwoSteps, AJobThatIsNotSaidToHaveBegunHasAtTheLatestWithItsRegistration) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}};
  use(script, kReal);
  happens(0s, {Submit{&a_}});
  happens(5s, {Started{id('A'), false, "no rank registered"}});
  EXPECT_EQ(controller_->next_timer(), at(10min + 5s));
}

TEST_F(TwoSteps, AStartThatIsRefusedAndTriedAgainLeavesTheWholeTimeLimit) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}};
  use(script, kReal);
  happens(0s, {Submit{&a_}});
  happens(1s, {Begun{id('A')}});
  EXPECT_EQ(happens(11min - 1s, {StartDelayed{id('A'), 11min, "no process"}}), "") << "tried again at 11 min";
  EXPECT_EQ(happens(21min + 1s, {}), "") << "it has not begun again";
  happens(21min + 2s, {StartDelayed{id('A'), 11min, ""}});
  EXPECT_EQ(happens(22min + 3s, {Begun{id('A')}}), "");
  EXPECT_EQ(controller_->next_timer(), at(32min + 3s));
}

TEST_F(TwoSteps, AJobThatIsSuspendedBeforeItBeginsHasItsTimeLimitAndNoMore) {
  Script script;
  script.answers = {{Start{id('A'), {4, 1, {}}}}, {Suspend{id('A')}}, {Resume{id('A')}}};
  use(script, kReal);
  happens(0s, {Submit{&a_}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "suspend A");
  happens(10s, {Suspended{id('A')}});
  EXPECT_EQ(happens(5min, {Cancel{id('B')}}), "resume A");
  happens(5min, {Resumed{id('A')}});
  happens(5min + 10s, {Begun{id('A')}});
  EXPECT_EQ(controller_->next_timer(), at(15min + 10s));
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

TEST_F(TwoSteps, AJobWhoseRanksRegisterLateIsMalleableFromThenOnAndThePolicyIsAsked) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  happens(1s, {Started{id('A'), false, "not yet shrinkable"}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "");
  EXPECT_EQ(happens(11s, {Started{id('A'), true, "its ranks have registered"}}), "resize A 2");
}

TEST_F(TwoSteps, AJobThatHasRefusedAnOrderStaysRigidWhateverItsRanksSayLater) {
  const auto policy = make_policy("fcfs-malleable");
  use(*policy.policy);
  happens(0s, {Submit{&a_}});
  happens(1s, {Started{id('A'), false, "not yet shrinkable"}});
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "");
  happens(11s, {ActionFailed{id('A'), "suspend", "a process does not stop"}});
  EXPECT_EQ(happens(12s, {Started{id('A'), true, "its ranks have registered"}}), "");
  EXPECT_EQ(happens(20s, {Finish{id('A'), {}}}), "start B 2");
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
  EXPECT_EQ(orders_text(controller_->interrupt(at(1s))), "kill A");
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
