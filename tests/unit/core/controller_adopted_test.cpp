// Jobs that another run has started: the controller has them before its first pass.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/history/follower.hpp"
#include "tests/unit/core/controller_fixture.hpp"

namespace replay::test {
namespace {

class AdoptedJobs : public TwoSteps {
 protected:
  Adopted adopted(const TracedJob& traced, CoreCount on, Duration left) {
    Adopted event{&traced, {on, mpl_on(traced.job.processes, on), {}}, at(0s), traced.job.estimate, left};
    return event;
  }
  /// That it is consistent is for the reader of the log to say.
  void expect_a_whole_history() {
    history::Follower follower{history::Observers{}};
    log::Header header;
    header.set("machine", "flat:4");
    follower.header(header);
    for (const log::Record& record : log_.records()) EXPECT_NO_THROW(follower.record(record));
  }
  Script script_;
};

TEST_F(AdoptedJobs, HaveTheirCoresBeforeTheFirstPass) {
  for (const PassRule rule : {PassRule::kInstant, PassRule::kEvent}) {
    Script script{rule};
    use(script);
    EXPECT_EQ(happens(100s, {Submit{&a_}, adopted(b_, 2, 20s)}), "");
    EXPECT_EQ(script.free_seen, std::vector<CoreCount>{2}) << "one pass, for the submission";
    EXPECT_EQ(log_.start(id('B')), at(100s));
    const auto launched = std::ranges::find_if(
        log_.records(), [](const log::Record& record) { return std::holds_alternative<log::Launched>(record.what); });
    ASSERT_NE(launched, log_.records().end());
    EXPECT_EQ(std::get<log::Launched>(launched->what).since, at(0s));
    EXPECT_EQ(controller_->running(), 1U);
    expect_a_whole_history();
    log_ = MemoryLog{};
  }
}

TEST_F(AdoptedJobs, AreKilledWhenTheRestOfTheirTimeIsOver) {
  use(script_);
  happens(100s, {adopted(b_, 2, 20s)});
  EXPECT_EQ(controller_->next_timer(), at(120s));
  EXPECT_EQ(happens(120s, {}), "kill B");
}

TEST_F(AdoptedJobs, DoNotBeginTheirGraceAnew) {
  use(script_, {Overrun::kKill, [](const Job&) { return Duration{10s}; }});
  happens(100s, {adopted(b_, 2, -4s)});
  EXPECT_EQ(controller_->next_timer(), at(106s));
  EXPECT_EQ(happens(106s, {}), "kill B");
}

TEST_F(AdoptedJobs, OfWhichSomeRanksAreMissingHaveAllOfIt) {
  use(script_, {Overrun::kKill, nullptr, Duration{}, kNever, true});
  Adopted event = adopted(b_, 2, 60s);
  event.has_begun = false;
  happens(100s, {event});
  EXPECT_EQ(controller_->next_timer(), kNever);
  happens(130s, {Begun{id('B')}});
  EXPECT_EQ(controller_->next_timer(), at(190s));
}

TEST_F(AdoptedJobs, KeepBothPlacesUntilAMoveIsAnswered) {
  script_.answers = {{}, {Start{id('B'), {2, 1, {}}}}};
  use(script_);
  Adopted event = adopted(a_, 4, 10min);
  event.moving_to = {2, 2, {}};
  happens(100s, {event, Submit{&b_}});
  EXPECT_EQ(script_.free_seen.back(), 2) << "by plan";
  const TracedJob c = job('C').cores(1).runs(1min);
  EXPECT_EQ(happens(102s, {Submit{&c}}), "") << "its processes are on all cores";
  EXPECT_EQ(happens(103s, {Resized{id('A')}}), "start B 2");
  expect_a_whole_history();
}

TEST_F(AdoptedJobs, ThatAreResumedStandStillUntilThen) {
  use(script_);
  Adopted event = adopted(b_, 2, 20s);
  event.is_asleep = true;
  happens(100s, {event});
  EXPECT_EQ(controller_->next_timer(), kNever);
  happens(105s, {Resumed{id('B')}});
  EXPECT_EQ(controller_->next_timer(), at(125s));
  expect_a_whole_history();
}

TEST_F(AdoptedJobs, ThatAreEndingAreToldNothingMore) {
  use(script_);
  Adopted event = adopted(b_, 2, 20s);
  event.is_ending = true;
  happens(100s, {event});
  EXPECT_EQ(happens(101s, {Cancel{id('B')}}), "");
  EXPECT_EQ(happens(200s, {}), "");
  happens(201s, {Finish{id('B'), {Outcome::kOverrun, 0, Verification::kNone, -1, ""}}});
  EXPECT_TRUE(controller_->idle());
  expect_a_whole_history();
}

}  // namespace
}  // namespace replay::test
