// Tests of two jobs on one core, and of jobs that are suspended: schedules worked out by hand. Under `isolated` a job
// on a core with load L = sum of the CPU utilisations of all processes there runs at 1/L of its speed, and at full
// speed up to L = 1.

#include <gtest/gtest.h>

#include "scheduler/log/text.hpp"
#include "scheduler/metrics/series.hpp"
#include "tests/support/followed.hpp"
#include "tests/support/schedule.hpp"
#include "tests/support/sharing_policies.hpp"
#include "tests/unit/model/core_loads.hpp"

namespace replay::test {
namespace {

const Machine kTwoCores = Machine::cluster(1, 1, 2);
const Machine kFourCores = Machine::cluster(1, 1, 4);

// Only jobs with a too short estimate may be killed: budgets are used up at the same rates as the work.
MemoryLog play(Policy& policy, const Machine& machine, const std::vector<TracedJob>& jobs,
               std::string_view model = "isolated") {
  MemoryLog log = simulate(policy, machine, jobs, model);
  EXPECT_EQ(what_is_wrong(log, machine), "");
  for (const TracedJob& traced : jobs)
    EXPECT_EQ(log.outcome(traced.job.id),
              traced.job.estimate < traced.truth.runtime ? Outcome::kOverrun : Outcome::kCompleted);
  return log;
}

MemoryLog beside(const Machine& machine, const std::vector<TracedJob>& jobs, std::string_view model = "isolated") {
  Beside policy;
  return play(policy, machine, jobs, model);
}

MemoryLog by_timetable(const Machine& machine, std::map<Instant, Decisions> orders,
                       const std::vector<TracedJob>& jobs) {
  Timetable policy{std::move(orders)};
  return play(policy, machine, jobs);
}

MemoryLog in_slices(const Machine& machine, const std::vector<TracedJob>& jobs) {
  Slices policy{1min};
  return play(policy, machine, jobs);
}

Allocation shared(const std::vector<OnCore>& loads, int mpl = 1) {
  return {static_cast<CoreCount>(loads.size()), mpl, core_loads(loads), true};
}

TEST(Sharing, EndsMoveWhenTheNeighbourComesAndWhenItGoes) {
  // A alone does 2 min of work; both at half speed for the 6 min that B takes, A does 3 more; its last 5 min alone.
  const auto log = beside(kTwoCores, {job('A').cores(2).runs(10min), job('B').cores(2).arrives(2min).runs(3min)});
  EXPECT_EQ(gantt(log, 2, 1min),
            "AA&&&&&&AAAAA\n"
            "AA&&&&&&AAAAA\n");
  EXPECT_EQ(log.end(id('B')), at(8min));
  EXPECT_EQ(log.end(id('A')), at(13min));
}

TEST(Sharing, TheLoadOfTheCoreDecidesNotTheNumberOfJobs) {
  // Load 0.75 + 0.5: B takes 4 * 1.25 = 5 min, in which A does 4; one of A's 6 was done before, one is left.
  const auto log = beside(
      kTwoCores, {job('A').cores(2).runs(6min).cpu_use(0.75), job('B').cores(2).arrives(1min).runs(4min).cpu_use(0.5)});
  EXPECT_EQ(log.end(id('B')), at(6min));
  EXPECT_EQ(log.end(id('A')), at(7min));
}

TEST(Sharing, NeighboursThatFitOnTheCoreTogetherCostNothing) {
  const auto log = beside(
      kTwoCores, {job('A').cores(2).runs(5min).cpu_use(0.5), job('B').cores(2).arrives(1min).runs(4min).cpu_use(0.5)});
  EXPECT_EQ(log.end(id('A')), at(5min));
  EXPECT_EQ(log.end(id('B')), at(5min));
}

TEST(Sharing, AJobIsAsSlowAsItsBusiestCore) {
  // B and C are beside A on one core each: loads 1.5 and 1.25; A's rate follows the higher load present. 3 min at
  // 1/1.5: B's 2 min of work, 2 of A's; 2 min at 1/1.25: the rest of C's 4, 1.6 of A's; 6.4 min alone.
  const auto log = beside(kTwoCores, {job('A').cores(2).runs(10min).cpu_use(0.5), job('B').cores(1).runs(2min),
                                      job('C').cores(1).runs(4min).cpu_use(0.75)});
  EXPECT_EQ(log.end(id('B')), at(3min));
  EXPECT_EQ(log.end(id('C')), at(5min));
  EXPECT_EQ(log.end(id('A')), at(11min + 24s));
}

TEST(Sharing, EveryProcessOfANeighbourCounts) {
  // B has two processes on each core: load 3. B's 2 min take 6, in which A does 2 of its 6.
  const auto log = by_timetable(
      kFourCores, {{at(0s), {Start{id('A'), shared({{0, 1}, {1, 1}})}, Start{id('B'), shared({{0, 2}, {1, 2}}, 2)}}}},
      {job('A').cores(2).runs(6min), job('B').cores(4).runs(2min)});
  EXPECT_EQ(log.end(id('B')), at(6min));
  EXPECT_EQ(log.end(id('A')), at(10min));
}

TEST(Sharing, ACoreThatAJobLeavesGoesToTheNextOneInTheQueue) {
  // C waits for a place beside A. B's 1 min of work takes 2; then C's 2 take 4; A does 1 + 2 in that time.
  const auto log =
      beside(kTwoCores, {job('A').cores(2).runs(8min), job('B').cores(2).runs(1min), job('C').cores(2).runs(2min)});
  EXPECT_EQ(log.start(id('C')), at(2min));
  EXPECT_EQ(log.end(id('C')), at(6min));
  EXPECT_EQ(log.end(id('A')), at(11min));
}

TEST(Sharing, RigidJobsOfThisPolicyStayAlone) {
  const auto log = beside(kTwoCores, {job('A').cores(2).runs(3min).rigid(), job('B').cores(1).runs(1min)});
  EXPECT_EQ(log.start(id('B')), at(3min));
}

TEST(Sharing, EqualNeighboursEndAtOneInstantWhateverTheRate) {
  for (const double cpu_use : {0.52, 0.6, 0.7, 0.9, 1.0})
    for (const Duration runtime : {33s, 65s, 130s, 259s}) {
      const auto log = beside(kTwoCores, {job('A').cores(2).runs(runtime).cpu_use(cpu_use),
                                          job('B').cores(2).runs(runtime).cpu_use(cpu_use)});
      EXPECT_EQ(log.end(id('A')), log.end(id('B'))) << cpu_use << ", " << to_text(runtime) << " s";
      EXPECT_NEAR(seconds(log.end(id('A'))), seconds(runtime) * 2 * cpu_use, 1e-6);
    }
}

TEST(Sharing, TheBudgetOfWorkIsUsedUpAtTheSharedRateToo) {
  // With an exact estimate no job is killed for having a neighbour. Estimated a minute short, it is killed when that
  // work is done.
  const auto log =
      beside(kTwoCores, {job('A').cores(2).runs(10min), job('B').cores(2).arrives(2min).runs(3min).estimated(2min)});
  EXPECT_EQ(log.end(id('B')), at(6min));
  EXPECT_EQ(log.end(id('A')), at(12min));
}

TEST(Sharing, UnderFormula4ANeighbourCountsAsAHigherLevelDoes) {
  // u = 1, ov = 0: s = 2 with one neighbour, as at level 2.
  const auto log = beside(kTwoCores, {job('A').cores(2).runs(4min), job('B').cores(2).runs(4min)}, "utrera");
  EXPECT_EQ(log.end(id('A')), at(8min));
}

TEST(Sharing, AResizeOfTheNeighbourMovesTheEndOfTheOther) {
  // Until 2 min both at 1/2: 1 min of work each. Then B's two processes are on core 0, where the load is 3: both at
  // 1/3, B's other 3 min take until 11 min, and A does 3 as well. It runs its last 6 min alone.
  const auto log =
      by_timetable(kTwoCores,
                   {{at(0s), {Start{id('A'), shared({{0, 1}, {1, 1}})}, Start{id('B'), shared({{0, 1}, {1, 1}})}}},
                    {at(2min), {Resize{id('B'), shared({{0, 2}}, 2)}}}},
                   {job('A').cores(2).runs(10min), job('B').cores(2).runs(4min)});
  EXPECT_EQ(log.end(id('B')), at(11min));
  EXPECT_EQ(log.end(id('A')), at(17min));
}

TEST(Sharing, ASuspendedNeighbourSlowsNobodyDown) {
  // 2 min at 1/2, 2 min A alone, then both at 1/2 until B's 2 min of work are done at 8 min. A: 1 + 2 + 2, and 5 alone.
  const auto log =
      by_timetable(kTwoCores,
                   {{at(0s), {Start{id('A'), shared({{0, 1}, {1, 1}})}, Start{id('B'), shared({{0, 1}, {1, 1}})}}},
                    {at(2min), {Suspend{id('B')}}},
                    {at(4min), {Resume{id('B')}}}},
                   {job('A').cores(2).runs(10min), job('B').cores(2).runs(3min)});
  EXPECT_EQ(gantt(log, 2, 1min),
            "&&AA&&&&AAAAA\n"
            "&&AA&&&&AAAAA\n");
  EXPECT_EQ(log.end(id('B')), at(8min));
  EXPECT_EQ(log.end(id('A')), at(13min));
}

TEST(Sharing, ASuspendedJobsPlaceMayGoToAnother) {
  // While B is suspended, C is beside A; B is resumed when C has ended.
  const auto log =
      by_timetable(kTwoCores,
                   {{at(0s), {Start{id('A'), shared({{0, 1}, {1, 1}})}, Start{id('B'), shared({{0, 1}, {1, 1}})}}},
                    {at(2min), {Suspend{id('B')}, Start{id('C'), shared({{0, 1}, {1, 1}})}}},
                    {at(6min), {Resume{id('B')}}}},
                   {job('A').cores(2).runs(10min), job('B').cores(2).runs(2min), job('C').cores(2).runs(2min)});
  EXPECT_EQ(log.end(id('C')), at(6min));
  EXPECT_EQ(log.end(id('B')), at(8min)) << "one of its two minutes was done";
  EXPECT_EQ(log.end(id('A')), at(14min)) << "half speed for 8 minutes";
}

TEST(Preempting, JobsTakeTurnsOnTheSameCores) {
  const auto log = in_slices(kTwoCores, {job('B').cores(2).runs(3min), job('C').cores(2).runs(2min)});
  EXPECT_EQ(gantt(log, 2, 30s),
            "BBCCBBCCBB\n"
            "BBCCBBCCBB\n")
      << "B is 66 and has the even slices, C the odd ones";
}

TEST(Preempting, TheBudgetStandsStillWhileAJobSleeps) {
  const auto log = in_slices(kTwoCores, {job('B').cores(2).runs(3min).estimated(2min), job('C').cores(2).runs(10min)});
  EXPECT_EQ(log.end(id('B')), at(3min)) << "after two minutes on its cores";
}

TEST(Preempting, OnlyWhoHasItsCoresInAnothersHandsWaits) {
  // D fits beside no job in the odd slices: C has three of the four cores there, D two of them in the even ones.
  const auto log =
      in_slices(kFourCores, {job('B').cores(1).runs(2min), job('C').cores(3).runs(2min), job('D').cores(2).runs(2min)});
  EXPECT_EQ(gantt(log, 4, 1min),
            "BCBC\n"
            "DCDC\n"
            "DCDC\n"
            "....\n");
}

TEST(Sharing, MetricsCountASharedCoreOnce) {
  const auto log = beside(kTwoCores, {job('A').cores(2).runs(10min), job('B').cores(2).arrives(2min).runs(3min)});
  metrics::Series series;
  log::Header header;
  header.set("machine", kTwoCores.to_text());
  feed(header, log.records(), series);
  EXPECT_EQ(static_cast<std::int64_t>(series.total().busy_cores / 60'000'000), 2 * 13);
  EXPECT_EQ(static_cast<std::int64_t>(series.total().processes / 60'000'000), 2 * 13 + 2 * 6);
}

}  // namespace
}  // namespace replay::test
