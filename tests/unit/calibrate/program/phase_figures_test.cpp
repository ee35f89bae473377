// Tests of the arithmetic behind the table of `replay run`: from counters at the ends of phases to speeds.

#include "scheduler/calibrate/program/phase_figures.hpp"

#include <gtest/gtest.h>

#include "tests/unit/calibrate/program/phase_kinds.hpp"

namespace replay::calibrate {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

/// Two ranks with the same counters; seconds since the start.
protocol::JobStatistics seen(double at, std::uint64_t calls, double blocked, double cpu, std::uint64_t polls = 0,
                             std::uint64_t handoffs = 0) {
  const auto ns = [](double seconds) { return static_cast<std::uint64_t>(seconds * kSecond); };
  protocol::JobStatistics statistics{JobId{1}, 100 * kSecond + ns(at), "progress", "yield", {}};
  for (int rank = 0; rank < 2; ++rank)
    statistics.ranks.push_back({1000 + rank, ns(blocked), calls, polls, handoffs, 0, ns(cpu)});
  return statistics;
}

constexpr PhaseKind kSuspended{.ranks = 2, .cores = 2, .ranks_per_core = 1, .is_base = true, .is_suspended = true};

TEST(PhaseTotals, AreDifferencesSummedOverRanks) {
  const PhaseTotals totals = totals_of(kExpanded, 1.5, seen(2, 10, 0.5, 1.5, 100, 3), seen(4, 30, 0.75, 3.5, 160, 4));
  EXPECT_TRUE(totals.is_known);
  EXPECT_DOUBLE_EQ(totals.from, 1.5);
  EXPECT_DOUBLE_EQ(totals.seconds, 2);
  EXPECT_EQ(totals.calls, 40U);
  EXPECT_EQ(totals.polls, 120U);
  EXPECT_EQ(totals.handoffs, 2U);
  EXPECT_DOUBLE_EQ(totals.blocked, 0.5);
  EXPECT_DOUBLE_EQ(totals.cpu, 4);
}

TEST(PhaseTotals, MeanNothingUnlessEveryRankIsRegistered) {
  protocol::JobStatistics end = seen(4, 30, 0.75, 3.5);
  end.ranks[1].pid = 0;
  EXPECT_FALSE(totals_of(kExpanded, 0, seen(2, 10, 0.5, 1.5), end).is_known);
  end.ranks.pop_back();
  EXPECT_FALSE(totals_of(kExpanded, 0, seen(2, 10, 0.5, 1.5), end).is_known);
}

TEST(PhaseTotals, ARankThatCountsBackwardsCountsNothing) {
  EXPECT_EQ(totals_of(kExpanded, 0, seen(2, 30, 0.5, 1.5), seen(4, 10, 0.5, 1.5)).calls, 0U);
}

TEST(RunFigures, SpeedIsCallsPerSecondWhereTheyAreEnough) {
  // Expanded 1000 calls/s per rank; shrunk 400.
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 2000, 0.4, 2)),
                                        totals_of(kShrunk, 2, seen(2, 2000, 0.4, 2), seen(4, 2800, 1.4, 3))};
  const RunFigures run = run_figures(phases);
  EXPECT_EQ(run.measure, Measure::kCalls);
  EXPECT_DOUBLE_EQ(run.phases[0].calls_per_s.value(), 2000);
  EXPECT_DOUBLE_EQ(run.phases[0].speed.value(), 1);
  EXPECT_DOUBLE_EQ(run.phases[1].speed.value(), 0.4);
  EXPECT_DOUBLE_EQ(run.phases[1].slowdown.value(), 2.5);
}

TEST(RunFigures, SpeedIsUsefulCpuTimeWhereOnePhaseHasFewCalls) {
  // 25 calls of each rank are 50; the second phase has 48. Each rank computes all the time, then half of it.
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 25, 0, 2)),
                                        totals_of(kShrunk, 2, seen(2, 25, 0, 2), seen(4, 49, 1, 3))};
  const RunFigures run = run_figures(phases);
  EXPECT_EQ(run.measure, Measure::kCpu);
  EXPECT_DOUBLE_EQ(run.phases[1].speed.value(), 0.5);
  const RunFigures asleep = run_figures(phases, Computing::kAsleep);
  EXPECT_EQ(asleep.measure, Measure::kNone) << "CPU time says nothing of emulated cores";
  EXPECT_FALSE(asleep.phases[1].speed.has_value());
}

TEST(RunFigures, FormulaThreeTakesTheCpuUseOfExpandedPhases) {
  // u = 0.8 in the first and 0.6 in the last of the same length: 0.7. Two ranks on a core: 1.4.
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 2000, 0.4, 2)),
                                        totals_of(kShrunk, 2, seen(2, 2000, 0.4, 2), seen(4, 3000, 1.4, 3)),
                                        totals_of(kExpanded, 4, seen(4, 3000, 1.4, 3), seen(6, 5000, 2.2, 5))};
  const RunFigures run = run_figures(phases);
  EXPECT_NEAR(run.cpu_use.value(), 0.7, 1e-9);
  EXPECT_NEAR(run.phases[0].cpu_use.value(), 0.8, 1e-9);
  EXPECT_FALSE(run.phases[1].cpu_use.has_value()) << "on a shared core, blocked time is also the other rank's";
  EXPECT_NEAR(run.phases[1].expected.value(), 1.4, 1e-9);
  EXPECT_NEAR(run.phases[2].expected.value(), 1, 1e-9);
}

TEST(RunFigures, FormulaThreeExpectsNoSlowdownOfAProgramThatWaitsMost) {
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 2000, 1.4, 2)),
                                        totals_of(kShrunk, 2, seen(2, 2000, 1.4, 2), seen(4, 3900, 3, 3))};
  EXPECT_DOUBLE_EQ(run_figures(phases).phases[1].expected.value(), 1);
}

TEST(RunFigures, WithoutAnExpandedPhaseThereIsNoExpectation) {
  const std::vector<PhaseTotals> phases{totals_of(kShrunk, 0, seen(0, 0, 0, 0), seen(2, 2000, 1.4, 1))};
  const RunFigures run = run_figures(phases);
  EXPECT_FALSE(run.cpu_use.has_value());
  EXPECT_FALSE(run.phases[0].expected.has_value());
  EXPECT_DOUBLE_EQ(run.phases[0].speed.value(), 1);
}

TEST(RunFigures, PollingIsNotUsefulAndCostsAsMuchOnASharedCoreAsOnOnesOwn) {
  // Expanded: 1 s blocked and a million polls each, so 1 us a poll. Shrunk: 200,000 polls, 0.2 s.
  const std::vector<PhaseTotals> phases{
      totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 100, 1, 2, 1'000'000)),
      totals_of(kShrunk, 2, seen(2, 100, 1, 2, 1'000'000), seen(4, 200, 2, 3, 1'200'000))};
  const RunFigures run = run_figures(phases);
  EXPECT_NEAR(run.phases[0].useful_per_s.value(), 1, 1e-9);    // 2 ranks x (2 - 1) s in 2 s
  EXPECT_NEAR(run.phases[1].useful_per_s.value(), 0.8, 1e-9);  // 2 ranks x (1 - 0.2) s in 2 s
  EXPECT_NEAR(run.phases[1].cpu_per_s.value(), 1, 1e-9);
}

TEST(RunFigures, StrangersOnTheCoresTakeFromComputingAndPollingAlike) {
  // Blocked for half of the time, on the core for half of the time: a quarter is useful.
  std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 100, 1, 1, 1'000'000))};
  phases[0].machine_busy = 8;  // of 2 s on four cores; 2 s are ours
  phases[0].machine_all = 8;
  const RunFigures run = run_figures(phases);
  EXPECT_NEAR(run.phases[0].useful_per_s.value(), 0.5, 1e-9);
  EXPECT_NEAR(run.phases[0].others.value(), 0.75, 1e-9);
  EXPECT_NEAR(run.others.value(), 0.75, 1e-9);
}

TEST(RunFigures, UsefulTimeIsUnknownWhereTheCostOfAPollIs) {
  const std::vector<PhaseTotals> phases{totals_of(kShrunk, 0, seen(0, 0, 0, 0), seen(2, 10, 1, 1, 500))};
  const RunFigures run = run_figures(phases);
  EXPECT_FALSE(run.phases[0].useful_per_s.has_value());
  EXPECT_EQ(run.measure, Measure::kNone);
}

TEST(RunFigures, UsefulTimeIsUnknownWhereManyHandOffsTookTheirShare) {
  // 2 s of CPU time between the two; a hand-off takes a microsecond or so.
  const auto with_handoffs = [](std::uint64_t each) {
    return std::vector<PhaseTotals>{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 10, 1, 2, 1000)),
                                    totals_of(kShrunk, 2, seen(2, 10, 1, 2, 1000), seen(4, 20, 2, 3, 2000, each))};
  };
  EXPECT_TRUE(run_figures(with_handoffs(10'000)).phases[1].useful_per_s.has_value());
  EXPECT_FALSE(run_figures(with_handoffs(500'000)).phases[1].useful_per_s.has_value());
}

TEST(RunFigures, ASuspendedPhaseHasNoSpeedAndSpoilsNoMeasure) {
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 2000, 0.4, 2)),
                                        totals_of(kSuspended, 2, seen(2, 2000, 0.4, 2), seen(4, 2000, 0.4, 2))};
  const RunFigures run = run_figures(phases);
  EXPECT_EQ(run.measure, Measure::kCalls);
  EXPECT_DOUBLE_EQ(run.phases[1].speed.value(), 0);
  EXPECT_FALSE(run.phases[1].slowdown.has_value());
  EXPECT_FALSE(run.phases[1].expected.has_value());
  EXPECT_NEAR(run.cpu_use.value(), 0.8, 1e-9);
}

TEST(RunFigures, AProgramsLastMomentsSpoilNoMeasure) {
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, seen(0, 0, 0, 0), seen(2, 2000, 0.4, 2)),
                                        totals_of(kShrunk, 2, seen(2, 2000, 0.4, 2), seen(2.01, 2001, 0.4, 2))};
  const RunFigures run = run_figures(phases);
  EXPECT_EQ(run.measure, Measure::kCalls);
  EXPECT_FALSE(run.phases[1].speed.has_value());
}

TEST(RunFigures, NothingIsKnownOfRanksThatAreNotRegistered) {
  protocol::JobStatistics stranger{JobId{1}, 0, "none", "yield", {}};
  stranger.ranks.resize(2);
  protocol::JobStatistics later = stranger;
  later.at_ns = kSecond;
  const std::vector<PhaseTotals> phases{totals_of(kExpanded, 0, stranger, later)};
  const RunFigures run = run_figures(phases);
  EXPECT_EQ(run.measure, Measure::kNone);
  EXPECT_FALSE(run.phases[0].calls_per_s.has_value());
  EXPECT_FALSE(run.cpu_use.has_value());
}

TEST(AddUp, PhasesOfOneKindBecomeOneInTheOrderOfTheirFirst) {
  std::vector<PhaseTotals> phases;
  for (int turn = 0; turn < 6; ++turn) {
    const double at = turn;
    phases.push_back(
        totals_of(turn % 2 == 0 ? kExpanded : kShrunk, at, seen(at, 0, 0, 0), seen(at + 1, 100, 0.25, 0.5)));
  }
  const std::vector<PhaseTotals> sums = add_up(phases);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].kind, kExpanded);
  EXPECT_EQ(sums[0].times, 3);
  EXPECT_DOUBLE_EQ(sums[0].seconds, 3);
  EXPECT_EQ(sums[0].calls, 600U);
  EXPECT_DOUBLE_EQ(sums[0].blocked, 1.5);
  EXPECT_DOUBLE_EQ(sums[1].from, 1);
}

}  // namespace
}  // namespace replay::calibrate
