#include "scheduler/metrics/series.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "scheduler/base/error.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

Series series_of(const Records& records, SeriesOptions options = {}) {
  Series series(options);
  records.feed(series);
  return series;
}

Instant at(int second) { return Instant{std::chrono::seconds{second}}; }
std::int64_t core_seconds(Wide sum) { return static_cast<std::int64_t>(sum / 1'000'000); }

// Two jobs on four cores: the second waits for the last two seconds of the first.
Records two_jobs() {
  return Records("flat:4")
      .submit(10, 1, 3, 5)
      .launch(10, 1, 3)
      .submit(13, 2, 4, 2)
      .finish(15, 1)
      .launch(15, 2, 4)
      .finish(17, 2);
}

TEST(Series, HasOnePointForEachInstantWithItsLastState) {
  const Series series = series_of(two_jobs());
  ASSERT_EQ(series.points().size(), 4u);
  const auto& points = series.points();
  EXPECT_EQ(points[0].at, at(10));
  EXPECT_EQ(points[0].queued, 0);
  EXPECT_EQ(points[0].busy_cores, 3);
  EXPECT_EQ(points[1].at, at(13));
  EXPECT_EQ(points[1].queued, 1);
  EXPECT_EQ(points[1].waiting_processors, 4);
  EXPECT_EQ(points[2].at, at(15));
  EXPECT_EQ(points[2].busy_cores, 4);
  EXPECT_EQ(points[2].running, 1);
  EXPECT_EQ(points[3].at, at(17));
  EXPECT_EQ(points[3].busy_cores, 0);
  EXPECT_EQ(series.begin(), at(10));
  EXPECT_EQ(series.end(), at(17));
}

TEST(Series, FreeCoresCountAsFragmentationOnlyWhileJobsWait) {
  const Series series = series_of(two_jobs());
  EXPECT_EQ(core_seconds(series.total().free_cores_while_queued), 2);
  EXPECT_EQ(core_seconds(series.total().busy_cores), 5 * 3 + 2 * 4);
  EXPECT_EQ(core_seconds(series.total().queued), 2);
  EXPECT_EQ(core_seconds(series.total().time), 7);
}

// A log whose jobs overlap beyond its machine.
TEST(Series, SharesAreOfTheStatedCoresAndNoCoreIsFreeBeyondThem) {
  Records beyond = Records("flat:6").header("stated-cores", "4");
  beyond.submit(0, 1, 3, 5).launch(0, 1, 3).submit(0, 2, 3, 3).launch(1, 2, 3).submit(2, 3, 3, 1).finish(4, 2);
  const Series series = series_of(beyond.finish(5, 1).launch(5, 3, 3).finish(6, 3));
  EXPECT_EQ(series.cores(), 4);
  EXPECT_EQ(core_seconds(series.total().free_cores_while_queued), 1 + 1) << "from 0 to 1 s, and from 4 to 5 s";
  EXPECT_EQ(core_seconds(series.total().busy_cores), 3 * 5 + 3 * 3 + 3);
}

TEST(Series, AJobThatStartsAtOnceWasNeverInTheQueue) {
  EXPECT_EQ(series_of(Records("flat:4").submit(0, 1, 1, 1).launch(0, 1, 1).finish(1, 1)).longest_queue(), 0);
  EXPECT_EQ(series_of(two_jobs()).longest_queue(), 1);
}

TEST(Series, IntegralsOverPartsAddUpToTheWhole) {
  const Series series = series_of(two_jobs());
  const Integrals first = series.between(at(0), at(14));
  const Integrals second = series.between(at(14), at(99));
  EXPECT_EQ(core_seconds(first.busy_cores), 12);
  EXPECT_EQ(core_seconds(first.free_cores_while_queued), 1);
  EXPECT_TRUE(first.busy_cores + second.busy_cores == series.total().busy_cores);
  EXPECT_TRUE(first.time + second.time == series.total().time);
}

TEST(Series, WithoutPointsTheTotalIsTheSame) {
  const Series series = series_of(two_jobs(), {.keep_points = false});
  EXPECT_TRUE(series.total().busy_cores == series_of(two_jobs()).total().busy_cores);
  EXPECT_EQ(series.end(), at(17));
  EXPECT_LE(series.points().size(), 1u);
}

TEST(Series, SuspendedJobsGiveTheirCoresAndProcessesBack) {
  const Series series = series_of(Records("flat:4")
                                      .submit(0, 1, 4, 3)
                                      .launch(0, 1, 2, 2)
                                      .suspended(1, 1)
                                      .resumed(2, 1)
                                      .resized(3, 1, 4, 1)
                                      .finish(4, 1));
  const auto points = series.points();
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[0].busy_cores, 2);
  EXPECT_EQ(points[0].processes, 4);
  EXPECT_EQ(points[1].busy_cores, 0);
  EXPECT_EQ(points[1].processes, 0);
  EXPECT_EQ(points[1].suspended, 1);
  EXPECT_EQ(points[2].busy_cores, 2);
  EXPECT_EQ(points[3].busy_cores, 4);
}

// Job 1 on cores 0 to 2; job 2 joins it on core 1 with two processes, and takes core 3 later.
Records two_on_a_core() {
  return Records("1x4")
      .submit(0, 1, 3, 10)
      .launch_shared(0, 1, {{0, 1}, {1, 1}, {2, 1}})
      .submit(2, 2, 2, 3)
      .launch_shared(2, 2, {{1, 2}}, 2)
      .submit(3, 3, 1, 1)
      .resized_shared(4, 2, {{1, 1}, {3, 1}}, 1)
      .suspended(6, 1)
      .resumed(8, 1)
      .finish(9, 2)
      .finish(11, 1);
}

TEST(Series, ACoreThatTwoJobsShareIsBusyOnce) {
  const Series series = series_of(two_on_a_core());
  const auto state_at = [&series](int second) {
    const Point* found = nullptr;
    for (const Point& point : series.points())
      if (point.at <= at(second)) found = &point;
    return std::pair{found->busy_cores, found->processes};
  };
  using State = std::pair<std::int32_t, std::int64_t>;
  EXPECT_EQ(state_at(0), (State{3, 3}));
  EXPECT_EQ(state_at(2), (State{3, 5})) << "two more processes, no more cores";
  EXPECT_EQ(state_at(4), (State{4, 5})) << "core 3 joins";
  EXPECT_EQ(state_at(6), (State{2, 2})) << "job 1 sleeps; job 2 keeps core 1 busy";
  EXPECT_EQ(state_at(8), (State{4, 5}));
  EXPECT_EQ(state_at(9), (State{3, 3})) << "core 1 is still job 1's";
  EXPECT_EQ(state_at(11), (State{0, 0}));
  EXPECT_EQ(core_seconds(series.total().busy_cores), 3 * 4 + 4 * 2 + 2 * 2 + 4 * 1 + 3 * 2);
  EXPECT_EQ(core_seconds(series.total().free_cores_while_queued), 1 * 1 + 0 * 2 + 2 * 2 + 0 * 1 + 1 * 2)
      << "job 3 waits from 3 s on";
}

TEST(Series, AJobThatSharesACoreTheMachineDoesNotHaveBetraysABrokenLog) {
  EXPECT_THROW(series_of(Records("1x4").submit(0, 1, 1, 1).launch_shared(0, 1, {{4, 1}})), InputError);
}

TEST(Series, HighLoadIsWhenEnoughJobsWait) {
  Records records("flat:4");
  for (int job = 1; job <= 4; ++job) records.submit(0, job, 1, 1);
  records.launch(0, 1, 1).launch(2, 2, 1).finish(3, 1);
  const Series series = series_of(records, {.high_load_queue = 3});
  EXPECT_EQ(core_seconds(series.total().high_load_time), 2);
  EXPECT_EQ(core_seconds(series.total().high_load_busy_cores), 2);
}

TEST(Series, ACancelledJobLeavesTheQueue) {
  const Series series = series_of(Records("flat:4").submit(0, 1, 2, 1).finish(5, 1, ended(Outcome::kCancelled)));
  EXPECT_EQ(series.points().back().queued, 0);
  EXPECT_EQ(series.points().back().waiting_processors, 0);
}

TEST(Series, AMillionCoresForACenturyDoNotOverflow) {
  const Series series =
      series_of(Records("flat:1000000").submit(0, 1, 1'000'000, 3.2e9).launch(0, 1, 1'000'000).finish(3.2e9, 1));
  EXPECT_DOUBLE_EQ(static_cast<double>(series.total().busy_cores), 3.2e21);
}

TEST(Series, ALogWithoutAMachineIsRefused) {
  test::Followed<Series> series;
  EXPECT_THROW(series.header({}), InputError);
}

}  // namespace
}  // namespace replay::metrics
