#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "scheduler/policy/moldable/load_factor.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {
namespace {

SpeedupCurve three_point(ProcessCount optimum) { return SpeedupCurve{ThreePointSpeedup{optimum}}; }

TracedJob malleable(TracedJob traced) {
  traced.job.flexibility = Flexibility::kMalleable;
  return traced;
}

// N = 4, of 2 to 8 processes; 8 are 3.2 / 2.6 as fast as 4.
TracedJob four(char letter, Duration runs, Duration arrives) {
  return malleable(job(letter).cores(4).runs(runs).arrives(arrives).moldable(three_point(4), 2, 8));
}

MemoryLog scojo(std::vector<TracedJob> jobs, std::string_view parameters = "", const Machine& machine = cores(8)) {
  MemoryLog log = simulate(fmt::format("scojo{}", parameters), machine, std::move(jobs), "speedup");
  EXPECT_EQ(what_is_wrong(log, machine), "");
  return log;
}

std::vector<Instant> resizes_of(const MemoryLog& log, char letter) {
  std::vector<Instant> all;
  for (const log::Record& record : log.records())
    if (const auto* resize = std::get_if<log::ResizeDecided>(&record.what);
        resize != nullptr && resize->job == id(letter))
      all.push_back(record.at);
  return all;
}

TEST(Scojo, ResizesAgainOnlyAfter300SecondsAndThenAtOnce) {
  // Shrunk at 10 s, when B comes; B leaves at 110 s.
  const MemoryLog log = scojo({four('A', 3000s, 0s), four('B', 100s, 10s)});
  EXPECT_EQ(log.decisions(id('A')), "start 8, resize 4, resize 8");
  EXPECT_EQ(resizes_of(log, 'A'), (std::vector{at(10s), at(310s)}));
  EXPECT_EQ(log.end(id('A')), at(2493750ms));
}

TEST(Scojo, ExpandsARunningJobBeyondItsProcessesButNotAtLevels) {
  const std::vector<TracedJob> jobs{four('A', 100s, 0s), four('B', 50s, 0s)};
  const MemoryLog any = scojo(jobs);
  EXPECT_EQ(any.decisions(id('A')), "start 4, resize 8");
  EXPECT_EQ(any.end(id('A')), at(90625ms));
  for (const Machine& machine : {cores(8), Machine::parse("2x2x2")}) {
    const MemoryLog levels = scojo(jobs, ":resize=levels", machine);
    EXPECT_EQ(levels.decisions(id('A')), "start 4");
    EXPECT_EQ(levels.end(id('A')), at(100s));
  }
}

TEST(Scojo, AtLevelsAJobGetsTheWidestThatIsNotAboveItsTarget) {
  // A starts with 10 of 10 processes. Beside B its target is 6; 10 processes share 10, 5, 4, 3 or 2 cores.
  const std::vector<TracedJob> jobs{malleable(job('A').cores(8).runs(1000s).moldable(three_point(8), 2, 10)),
                                    job('B').cores(4).runs(100s).arrives(10s).rigid()};
  EXPECT_EQ(scojo(jobs, "", cores(10)).decisions(id('A')), "start 10, resize 6, resize 10");
  EXPECT_EQ(scojo(jobs, ":resize=levels", cores(10)).decisions(id('A')), "start 10, resize 5, resize 10");
  const Machine node = Machine::parse("1x1x10"), nodes = Machine::parse("2x1x5");
  EXPECT_EQ(scojo(jobs, "", node).decisions(id('A')), "start 10, resize 5, resize 10") << "cores have names";
  EXPECT_EQ(scojo(jobs, "", nodes).decisions(id('A')), "start 10, resize 6, resize 10") << "3 cores of each node";
}

TEST(Scojo, ShortJobsAreAtMostMoldedAndLongOnesNever) {
  // A is short: it starts on 8 under low load, and keeps them when B comes.
  EXPECT_EQ(scojo({four('A', 50s, 0s), four('B', 500s, 1s)}).decisions(), "start A 8; start B 8");
  const TracedJob molded = job('L').cores(4).runs(2h).moldable(three_point(4), 2, 8);
  EXPECT_EQ(scojo({molded}).decisions(), "start L 4");
  EXPECT_EQ(scojo({malleable(molded)}).decisions(), "start L 8");
}

TEST(Scojo, AChangeOfATenthIsNotEnough) {
  // Beside B and C 4 of its 5 cores are left for A: the factor is below 0.9, by what the halvings leave.
  const auto alone = [](char letter, Duration arrives) {
    return job(letter).cores(1).runs(100s).arrives(arrives).rigid();
  };
  const TracedJob a = malleable(job('A').cores(5).runs(1000s).moldable(kLinear, 1, 6));
  const MemoryLog log = scojo({a, alone('B', 0s), alone('C', 10s)}, "", cores(6));
  EXPECT_EQ(log.decisions(id('A')), "start 5, resize 6") << "when C has left";
  EXPECT_EQ(log.start(id('C')), at(100s));
  // 3 of 5: below 0.7.
  const TracedJob two = job('C').cores(2).runs(100s).arrives(10s).rigid();
  EXPECT_EQ(scojo({a, alone('B', 0s), two}, "", cores(6)).decisions(id('A')), "start 5, resize 3, resize 6");
}

// A has 7 of 8 cores from 10 s to 310 s. H needs 4; K's target is 2 by the factor of then.
std::vector<TracedJob> one_core_left(const TracedJob& k) {
  return {malleable(job('A').cores(7).runs(2000s).moldable(kLinear, 1, 8)),
          job('B').cores(1).runs(10s).arrives(10s).rigid(), job('H').cores(4).runs(100s).arrives(30s).rigid(), k};
}

TEST(Scojo, BackfillingShrinksShortAndMediumJobsToWhatIsFree) {
  const TracedJob k = job('K').cores(6).runs(100s).arrives(31s).moldable(kLinear, 1, 8);
  const MemoryLog log = scojo(one_core_left(k));
  EXPECT_EQ(log.decisions(id('K')), "start 1");
  EXPECT_EQ(log.start(id('K')), at(31s));
  const TracedJob long_one = malleable(job('K').cores(6).runs(2h).arrives(31s).moldable(kLinear, 1, 8));
  EXPECT_GT(scojo(one_core_left(long_one)).start(id('K')), at(31s));
}

TEST(Scojo, JobsThatEmptyTheQueueAreExpandedIntoWhatIsLeftInTheirOrder) {
  // Three times 3 cores do not fit 8, three times 2 leave 2.
  const auto two = [](char letter) { return job(letter).cores(2).runs(100s).moldable(kLinear, 1, 8); };
  EXPECT_EQ(scojo({two('A'), two('B'), two('C')}).decisions(), "start A 4; start B 2; start C 2");
  EXPECT_EQ(scojo({two('A'), two('B'), job('C').cores(8).runs(100s).rigid()}).decisions(id('A')), "start 1")
      << "C waits: 1 and 1 are the least";
}

AdaptableSizes sizes(ProcessCount optimum, ProcessCount least, ProcessCount most) { return {optimum, least, most}; }

TEST(LoadFactor, IsOneUnderANormalLoad) {
  EXPECT_EQ(load_factor({.machine = 10, .needed = 9, .fixed = 0, .adaptable = {sizes(9, 1, 10)}}), 1);
  EXPECT_EQ(load_factor({.machine = 10, .needed = 10, .fixed = 0, .adaptable = {sizes(10, 1, 10)}}), 1);
  EXPECT_DOUBLE_EQ(load_factor({.machine = 10, .needed = 8, .fixed = 0, .adaptable = {sizes(8, 1, 10)}}), 1.25);
}

TEST(LoadFactor, IsTheLargestWithWhichAllFit) {
  const MachineLoad high{.machine = 8, .needed = 14, .fixed = 2, .adaptable = {sizes(4, 2, 8), sizes(8, 4, 8)}};
  const double factor = load_factor(high);
  EXPECT_NEAR(factor, 0.5625, 1e-9) << "2 + 4 beside the 2 that are fixed; from 4.5 on the second has 5";
  EXPECT_EQ(high.adaptable[0].at(factor) + high.adaptable[1].at(factor), 6);
  const MachineLoad full{.machine = 8, .needed = 20, .fixed = 6, .adaptable = {sizes(4, 2, 8), sizes(8, 4, 8)}};
  EXPECT_EQ(load_factor(full), 0.5) << "even the least do not fit";
  EXPECT_EQ(load_factor({.machine = 8, .needed = 2, .fixed = 2, .adaptable = {}}), 1);
}

TEST(LoadFactor, SizesAreRoundedHalvesUpAndClampedOrTheLargestOfTheListNotAbove) {
  EXPECT_EQ(sizes(5, 1, 10).at(0.5), 3);
  EXPECT_EQ(sizes(5, 4, 10).at(0.5), 4);
  EXPECT_EQ(sizes(5, 1, 8).at(2), 8);
  const std::vector<ProcessCount> list{2, 4, 8};
  const AdaptableSizes listed{.optimum = 4, .least = 2, .most = 8, .only = list};
  EXPECT_EQ(listed.at(1.9), 8);
  EXPECT_EQ(listed.at(1.8), 4);
  EXPECT_EQ(listed.at(0.25), 2);
}

}  // namespace
}  // namespace replay::test
