// Tests of orders that a body refuses, answers late or out of turn: no job stays stopped without an end, and none runs
// without its time limit.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scheduler/core/controller.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/core/controller_fixture.hpp"

namespace replay::test {
namespace {

const Decisions kStartA = {Start{id('A'), {4, 1, {}}}};
const Decisions kSuspendA = {Suspend{id('A')}};
const Decisions kResumeA = {Resume{id('A')}};
const Decisions kBInsteadOfA = {Suspend{id('A')}, Start{id('B'), {2, 1, {}}}};

JobEnd killed() { return {Outcome::kKilled, 0, Verification::kNone, -1, ""}; }

class Refusals : public TwoSteps {
 protected:
  void script(std::vector<Decisions> answers, ControllerOptions options = {}) {
    script_.answers = std::move(answers);
    use(script_, options);
    EXPECT_EQ(happens(0s, {Submit{&a_}}), "start A 4");
  }
  static Event refused(const char* action) { return ActionFailed{id('A'), action, "no answer"}; }

  Script script_;
  TracedJob c_ = job('C').cores(1).runs(1min);
  TracedJob d_ = job('D').cores(1).runs(1min);
};

TEST_F(Refusals, AJobThatIsNotSuspendedRunsOnWithItsTimeLimit) {
  script({kStartA, kBInsteadOfA});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {refused("suspend")}), "") << "B waits for cores of A";
  EXPECT_EQ(controller_->next_timer(), at(10min));
  EXPECT_EQ(happens(10min, {}), "kill A");
  EXPECT_EQ(happens(10min + 1s, {Finish{id('A'), killed()}}), "start B 2");
}

TEST_F(Refusals, TheLimitOfAJobThatIsNotSuspendedHasPassedWhenTheAnswerComes) {
  script({kStartA, kBInsteadOfA});
  EXPECT_EQ(happens(10min - 1s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(10min + 1s, {refused("suspend")}), "");
  EXPECT_LE(controller_->next_timer(), at(10min + 1s));
  EXPECT_EQ(happens(10min + 1s, {}), "kill A");
}

TEST_F(Refusals, AJobThatIsNotSuspendedIsExtendedAndThePolicyIsNotAskedForMoreTime) {
  script({kStartA, kBInsteadOfA}, {Overrun::kExtend, nullptr});
  happens(60s, {Submit{&b_}});
  happens(61s, {refused("suspend")});
  EXPECT_EQ(happens(10min, {}), "");
  EXPECT_EQ(controller_->next_timer(), at(11min));

  script_ = {};
  script_.more_times = {1h};
  script({kStartA, kBInsteadOfA}, {Overrun::kPolicy, nullptr});
  happens(60s, {Submit{&b_}});
  happens(61s, {refused("suspend")});
  EXPECT_EQ(happens(10min, {}), "kill A") << "by the policy's plan it does not run";
}

TEST_F(Refusals, AJobThatIsNotSuspendedIsAskedAgainWhenItsPlanChangesAndNotBefore) {
  script({kStartA, kSuspendA, {}, kResumeA, kSuspendA});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {refused("suspend")}), "");
  EXPECT_EQ(happens(62s, {Submit{&c_}}), "");
  EXPECT_EQ(happens(63s, {Submit{&d_}}), "") << "it is to run, and does";
  EXPECT_EQ(happens(64s, {Cancel{id('D')}}), "suspend A");
  happens(65s, {Suspended{id('A')}});
  EXPECT_EQ(controller_->next_timer(), kNever) << "its budget stands still";
}

TEST_F(Refusals, AJobThatIsNotResumedIsKilledAndItsCoresAreFree) {
  script({kStartA, kBInsteadOfA, kResumeA, {Start{id('C'), {1, 1, {}}}}});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {Suspended{id('A')}}), "start B 2");
  EXPECT_EQ(happens(121s, {Finish{id('B'), {}}}), "resume A");
  const auto ordered = happens(122s, {refused("resume"), Submit{&c_}});
  EXPECT_EQ(ordered, "kill A; start C 1") << "it is stopped, and has no cores";
  EXPECT_EQ(script_.free_seen.back(), 4);
  EXPECT_EQ(happens(123s, {Finish{id('A'), killed()}}), "");
  happens(124s, {Finish{id('C'), {}}});
  EXPECT_TRUE(controller_->idle());
  EXPECT_EQ(what_is_wrong(log_, machine_), "");
  const auto is_kill = [](const log::Record& record) {
    const auto* const kill = std::get_if<log::KillDecided>(&record.what);
    return kill != nullptr && to_text(kill->reason) == "stuck";
  };
  EXPECT_EQ(std::ranges::count_if(log_.records(), is_kill), 1);
}

TEST_F(Refusals, AJobThatIsNotResumedButSuspendedAgainByThenStaysSuspendedAndIsResumedLater) {
  script({kStartA, kSuspendA, kResumeA, kSuspendA, kResumeA});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  happens(61s, {Suspended{id('A')}});
  EXPECT_EQ(happens(62s, {Submit{&c_}}), "resume A");
  EXPECT_EQ(happens(63s, {Cancel{id('C')}}), "");
  EXPECT_EQ(happens(64s, {refused("resume")}), "");
  EXPECT_EQ(happens(65s, {Submit{&d_}}), "resume A");
  happens(66s, {Resumed{id('A')}});
  EXPECT_EQ(controller_->next_timer(), at(10min + 5s));
}

// The body had two orders of one job: the answers could cross, and the job held cores that it had left.
TEST_F(Refusals, AJobThatIsResumedAndResizedWhileItIsBeingStoppedHasOneOrderAtATime) {
  script({kStartA, kSuspendA, {Resume{id('A')}, Resize{id('A'), {2, 2, {}}}, Start{id('B'), {2, 1, {}}}}});
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {Submit{&c_}}), "") << "the body has not answered yet";
  EXPECT_EQ(happens(61s, {Resized{id('A')}}), "") << "to what was not ordered";
  EXPECT_EQ(happens(62s, {Suspended{id('A')}}), "resume A");
  EXPECT_EQ(happens(63s, {Resumed{id('A')}}), "resize A 2");
  EXPECT_EQ(happens(64s, {Resized{id('A')}}), "start B 2");
}

TEST_F(Refusals, AnAnswerThatIsLateRepeatedOrOutOfTurnChangesNothing) {
  script({kStartA, kSuspendA, kResumeA});
  for (const Event& early : {Event{Resized{id('A')}}, Event{Suspended{id('A')}}, Event{Resumed{id('A')}},
                             refused("resize"), refused("suspend"), refused("resume"), refused("dance")})
    EXPECT_EQ(happens(1s, {early}), "");
  EXPECT_EQ(controller_->next_timer(), at(10min));
  EXPECT_EQ(happens(60s, {Submit{&b_}}), "suspend A");
  EXPECT_EQ(happens(61s, {refused("resize"), refused("resume"), Resumed{id('A')}}), "");
  EXPECT_EQ(happens(62s, {Suspended{id('A')}}), "");
  EXPECT_EQ(happens(63s, {refused("suspend"), Suspended{id('A')}, Resumed{id('A')}}), "");
  EXPECT_EQ(controller_->next_timer(), kNever) << "it is stopped";
  EXPECT_EQ(happens(64s, {Submit{&c_}}), "resume A");
  EXPECT_EQ(happens(65s, {Resumed{id('A')}, refused("resume"), Resumed{id('A')}}), "");
  EXPECT_EQ(controller_->next_timer(), at(10min + 3s));
}

TEST_F(Refusals, AJobThatIsStoppedInItsGraceIsNotKilledBeforeItRunsAgain) {
  script({kStartA, kBInsteadOfA, kResumeA}, {Overrun::kKill, [](const Job&) { return 60s; }});
  happens(10min, {});
  EXPECT_EQ(happens(10min + 20s, {Submit{&b_}}), "suspend A");
  happens(10min + 20s, {Suspended{id('A')}});
  EXPECT_EQ(happens(15min, {Finish{id('B'), {}}}), "resume A");
  EXPECT_EQ(happens(15min + 1s, {Submit{&c_}}), "") << "the body has not answered yet";
  EXPECT_EQ(happens(15min + 2s, {Resumed{id('A')}}), "");
  EXPECT_EQ(controller_->next_timer(), at(15min + 42s)) << "40 s of its grace are left";
}

}  // namespace
}  // namespace replay::test
