// The numbers are those of the cases in tests/data/moldable, and of further ones worked out by hand in the same way.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "scheduler/policy/moldable/head_size.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

constexpr LoadAim kAim{.ideal = 0.9, .delta = 0.01, .most_worse = 2};

SpeedupCurve three_points(ProcessCount optimum) { return SpeedupCurve{ThreePointSpeedup{optimum}}; }

// N = 4, of 2 to 8 processes.
TracedJob moldable_four(char letter, Duration runs, Duration arrives = 0s) {
  return job(letter).cores(4).runs(runs).arrives(arrives).moldable(three_points(4), 2, 8);
}

MemoryLog scojo_p(std::vector<TracedJob> jobs, const Machine& machine = cores(8), const char* parameters = "") {
  return simulate(std::string{"scojo-p:predict=off"} + parameters, machine, std::move(jobs), "rigid");
}

// What waits and runs when a head is sized; the head is the first that waits.
class Moment {
 public:
  explicit Moment(CoreCount machine) : machine_(machine) {}
  Moment& runs(CoreCount cores, Duration left) {
    running_.push_back({Instant{left}, cores});
    std::ranges::sort(running_, {}, &Release::at);
    running_cores_ += cores;
    return *this;
  }
  Moment& waits(const TracedJob& traced, ProcessCount guaranteed = 0) {
    jobs_.push_back(traced.job);
    shares_.emplace_back(classed(jobs_.back(), machine_, Aging::kOff), machine_, guaranteed);
    waiting_.push_back(&shares_.back());
    return *this;
  }
  [[nodiscard]] double load(double modifier) const { return load_with(modifier, view()).load; }
  [[nodiscard]] HeadSize best() const { return size_of_head(view(), kAim); }

 private:
  [[nodiscard]] LoadView view() const {
    return {machine_, Instant{}, running_, running_cores_, waiting_, nullptr, Duration::zero()};
  }

  CoreCount machine_;
  std::vector<Release> running_;
  CoreCount running_cores_ = 0;
  std::deque<Job> jobs_;
  std::deque<WaitingShare> shares_;
  std::vector<const WaitingShare*> waiting_;
};

TEST(ScojoPLoad, CountsRunningJobsAtTheirCoresAndWaitingOnesAtTheModifiedSize) {
  Moment moment{8};
  moment.runs(6, 79s).waits(moldable_four('B', 400s));
  EXPECT_NEAR(moment.load(1), (4 * 400 + 6 * 79) / (8 * 400.0), 1e-9);
  EXPECT_NEAR(moment.load(1.388621), 0.915216, 1e-6) << "5.55 is 6, which takes 358.62 s";
  Moment three{8};
  three.runs(6, 70s).waits(moldable_four('B', 400s)).waits(moldable_four('C', 400s)).waits(moldable_four('D', 400s));
  EXPECT_NEAR(three.load(1), 1.63125, 1e-9);
  EXPECT_NEAR(three.load(0.551724), 0.830769, 1e-6) << "each is 2 for 650 s";
}

TEST(ScojoPLoad, CountsNoMoreThanTheTimeOfTheHead) {
  Moment moment{8};
  moment.runs(2, 1000s)
      .runs(1, 10s)
      .waits(moldable_four('B', 100s))
      .waits(moldable_four('C', 500s))
      .waits(moldable_four('D', 30s));
  EXPECT_NEAR(moment.load(1), (4 * 100 + 2 * 100 + 1 * 10 + 4 * 100 + 4 * 30) / 800.0, 1e-9);
}

TEST(ScojoPLoad, CountsAGuaranteeOfOthersButNotOfTheHead) {
  EXPECT_NEAR(Moment{8}.waits(moldable_four('B', 100s), 8).load(1), 0.5, 1e-9);
  EXPECT_NEAR(Moment{8}.waits(moldable_four('B', 1s)).waits(moldable_four('C', 100s), 6).load(1), (4 + 6) / 8.0, 1e-9);
}

TEST(ScojoPLoad, RigidJobsKeepTheirSize) {
  Moment moment{8};
  moment.waits(moldable_four('B', 100s)).waits(job('C').cores(6).runs(1000s).rigid());
  EXPECT_NEAR(moment.load(1), 10 / 8.0, 1e-9);
  EXPECT_NEAR(moment.load(0.5), 8 / 8.0, 1e-9);
}

void expect_best(const Moment& moment, double modifier, double load) {
  EXPECT_NEAR(moment.best().modifier, modifier, 1e-6);
  EXPECT_NEAR(moment.best().load, load, 1e-6);
}

TEST(ScojoPModifier, IsTheBestOfTheTrialsAndNotTheLast) {
  // 1: 4 of 8; 1.8: 7 of 8; 1.85: the same; 1.90: 8 of 8, which is no nearer. A second bad one ends the search.
  expect_best(Moment{8}.waits(moldable_four('A', 100s)), 1.8, 0.875);
}

TEST(ScojoPModifier, FollowsTheTablesOfLoadThree) {
  const TracedJob a = moldable_four('A', 100s), b = moldable_four('B', 100s), c = moldable_four('C', 100s);
  expect_best(Moment{8}.waits(a).waits(b).waits(c), 0.6, 0.75);
  expect_best(Moment{8}.runs(2, 162500ms).waits(b).waits(c), 0.72, 1);
  expect_best(Moment{8}.runs(2, 162500ms).runs(3, Duration{123809524}).waits(c), 0.8, 1);
}

TEST(ScojoPModifier, ATrialThatIsAsFarFromTheIdealAsTheBestIsBad) {
  // 29 of 35 cores, 31 at 1.086, 32 at 1.104: 31/35 is as far below 0.9 as 32/35 is above.
  const TracedJob head = job('A').cores(28).runs(100s).moldable(three_points(28), 14, 35);
  expect_best(Moment{35}.runs(1, 1h).waits(head), 0.9 * 35 / 29, 31 / 35.0);
}

TEST(ScojoPModifier, DeltaItselfIsNearEnough) {
  expect_best(Moment{100}.waits(job('A').cores(89).runs(100s).moldable(kLinear, 1, 100)), 1, 0.89);
}

TEST(ScojoP, WaitsForALargerSizeOnlyIfItIsOverSoonerSo) {
  // With an ideal load of 1.5 B's target is 4. On the 2 that are free it is over at 160 s; on 4 from A's end on, 80 s after that.
  const auto with = [](Duration a) {
    return scojo_p({job('A').cores(2).runs(a).rigid(), job('B').cores(4).runs(80s).moldable(kLinear, 1, 4)}, cores(4),
                   ":ideal=1.5");
  };
  EXPECT_EQ(with(79s).start(id('B')), at(79s));
  EXPECT_EQ(with(79s).end(id('B')), at(159s));
  EXPECT_EQ(with(80s).decisions(), "start A 2; start B 2") << "of two that are over at once the earlier";
  EXPECT_EQ(with(80s).start(id('B')), at(0s));
  EXPECT_EQ(with(81s).start(id('B')), at(0s));
}

// A has all cores until 20 s. B, alone behind it at 1 s, is sized 1, 1.304 (5), 1.421 (6): 0.962 of the machine.
std::vector<TracedJob> guaranteed_six(const std::vector<TracedJob>& later) {
  std::vector<TracedJob> jobs{job('A').cores(8).runs(20s).rigid(), moldable_four('B', 100s, 1s)};
  jobs.insert(jobs.end(), later.begin(), later.end());
  return jobs;
}

TEST(ScojoP, GuaranteesASizeWhileNothingIsFreeAndKeepsItUnderMoreLoad) {
  const MemoryLog log = scojo_p(guaranteed_six({moldable_four('C', 100s, 10s), moldable_four('D', 100s, 10s)}));
  EXPECT_EQ(log.decisions(id('B')), "start 6") << "2 without the guarantee, as in load-three";
  EXPECT_EQ(log.start(id('B')), at(20s));
}

TEST(ScojoP, KeepsAGuaranteeWhenAnotherJobBecomesTheHead) {
  // C is short, so it goes before B: at 20 s it takes 2 (its load with B's six is 1.25 there, the nearest).
  const MemoryLog log = scojo_p(guaranteed_six({moldable_four('C', 30s, 10s), moldable_four('D', 100s, 11s)}));
  EXPECT_EQ(log.decisions(id('C')), "start 2");
  EXPECT_EQ(log.decisions(id('B')), "start 6");
  EXPECT_EQ(log.start(id('B')), at(20s));
}

}  // namespace
}  // namespace replay::test
