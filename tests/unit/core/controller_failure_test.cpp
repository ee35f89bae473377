// Tests of what a policy's failure leaves: no further decision, and an end for each job that came.
#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/core/controller.hpp"
#include "tests/support/schedule.hpp"
#include "tests/unit/core/controller_fixture.hpp"

namespace replay::test {
namespace {

// Breaks an invariant of its own in its second pass.
class Broken final : public Policy {
 public:
  explicit Broken(PassRule rule) : Policy({.pass_rule = rule}) {}
  void decide(const ClusterView& view, Decisions& out) override {
    ++asked;
    INVARIANT(asked < 2, "{} of {} cores reserved", 4, 2);
    for (const Job* job : view.waiting)
      if (cores_needed(*job) <= view.free.total())
        return out.emplace_back(Start{job->id, {cores_needed(*job), 1, {}}}), void();
  }

  int asked = 0;
};

TEST_F(TwoSteps, ABrokenInvariantOfAPolicyIsItsFailureAndAllEventsOfTheInstantAreTaken) {
  for (const PassRule rule : {PassRule::kInstant, PassRule::kEvent}) {
    log_ = {};
    Broken policy{rule};
    use(policy);
    EXPECT_EQ(happens(0s, {Submit{&b_}}), "start B 2");
    TracedJob c = job('C').cores(1);
    EXPECT_EQ(orders_text(controller_->handle(at(5s), std::vector<Event>{Submit{&c}, Submit{&a_}})), "")
        << "nothing starts";
    ASSERT_NE(controller_->failure(), nullptr);
    try {
      std::rethrow_exception(controller_->failure());
    } catch (const PolicyError& error) {
      EXPECT_NE(std::string{error.what()}.find("the policy is wrong at 5 s"), std::string::npos) << error.what();
      EXPECT_NE(std::string{error.what()}.find("4 of 2 cores reserved"), std::string::npos) << error.what();
    }
    EXPECT_EQ(orders_text(controller_->interrupt(at(5s), "the policy has failed")), "kill B");
    EXPECT_EQ(
        orders_text(controller_->handle(
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
  EXPECT_EQ(orders_text(controller_->interrupt(at(1s))), "kill A");
  EXPECT_EQ(orders_text(controller_->handle(
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
