// Tests of the controller where jobs share cores because their policy wants it.
#include <gtest/gtest.h>

#include "scheduler/core/controller.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/core/controller_fixture.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::test {
namespace {

// Four named cores; A, B and C need half of them each.
class SharedSteps : public testing::Test {
 protected:
  std::string happens(Duration when, std::vector<Event> events) {
    return orders_text(handled(*controller_, when, events));
  }
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
  EXPECT_EQ(happens(10s, {Submit{&b_}}), "start B 2") << "no job has to leave";
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
  EXPECT_EQ(controller_->next_timer(), at(20min)) << "B is still there, so that A is at half speed";
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

}  // namespace
}  // namespace replay::test
