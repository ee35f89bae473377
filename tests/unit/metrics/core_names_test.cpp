#include "scheduler/metrics/core_names.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/base/error.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

CoreNames names_of(const Records& records) {
  CoreNames names;
  records.feed(names);
  return names;
}

// What comes later in the log that `names` follow.
void add(test::Followed<CoreNames>& names, const Records& records) {
  for (const log::Record& record : records.records()) names.record(record);
}

std::string used(const CoreNames& names, int job) {
  std::string text;
  for (const auto& [first, last] : names.used(JobId{job}))
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", first, last == first ? "" : fmt::format("-{}", last));
  return text;
}

TEST(CoreNames, APoolGivesTheLowestFreeCores) {
  const CoreNames names = names_of(Records("flat:8")
                                       .submit(0, 1, 2, 9)
                                       .launch(0, 1, 2)
                                       .submit(0, 2, 2, 9)
                                       .launch(0, 2, 2)
                                       .submit(0, 3, 1, 9)
                                       .launch(0, 3, 1)
                                       .finish(1, 1)
                                       .submit(1, 4, 4, 9)
                                       .launch(1, 4, 4));
  EXPECT_EQ(used(names, 1), "0-1");
  EXPECT_EQ(used(names, 2), "2-3");
  EXPECT_EQ(used(names, 3), "4");
  EXPECT_EQ(used(names, 4), "0-1 5-6");
}

TEST(CoreNames, AShrunkJobGivesBackItsHighestCoresAndKeepsThemInItsUsedSet) {
  const CoreNames names = names_of(Records("flat:8")
                                       .submit(0, 1, 4, 9)
                                       .launch(0, 1, 4)
                                       .resized(1, 1, 2, 2)
                                       .submit(1, 2, 6, 9)
                                       .launch(1, 2, 6)
                                       .finish(2, 2)
                                       .resized(2, 1, 4, 1));
  EXPECT_EQ(used(names, 1), "0-3");
  EXPECT_EQ(used(names, 2), "2-7");
}

TEST(CoreNames, CoresGainedLaterJoinTheUsedSet) {
  const CoreNames names = names_of(
      Records("flat:8").submit(0, 1, 4, 9).launch(0, 1, 2, 2).submit(0, 2, 2, 9).launch(0, 2, 2).resized(1, 1, 4, 1));
  EXPECT_EQ(used(names, 1), "0-1 4-5");
  EXPECT_EQ(names.held(JobId{1}).size(), 2u);
}

TEST(CoreNames, WhatAJobUsedCanBeAskedAtAnyTime) {
  test::Followed<CoreNames> names;
  Records("1x8").submit(0, 1, 2, 9).launch_on(0, 1, {{0, 1}, {1, 1}}).feed(names);
  EXPECT_EQ(used(*names, 1), "0-1");
  add(names, Records("1x8").resized_on(1, 1, {{1, 2}}, 2).resized_on(2, 1, {{1, 1}, {5, 1}}, 1));
  EXPECT_EQ(used(*names, 1), "0-1 5");
  add(names, Records("1x8").suspended(3, 1));
  EXPECT_EQ(used(*names, 1), "0-1 5");
  add(names, Records("1x8").resumed(4, 1).finish(5, 1));
  EXPECT_EQ(used(*names, 1), "0-1 5");
}

TEST(CoreNames, ForgetsAJobAndNoOther) {
  test::Followed<CoreNames> names;
  Records("flat:8")
      .submit(0, 1, 2, 9)
      .launch(0, 1, 2)
      .submit(0, 2, 2, 9)
      .launch(0, 2, 2)
      .finish(1, 1)
      .finish(1, 2)
      .feed(names);
  names->forget(JobId{1});
  names->forget(JobId{7});  // a job that never ran
  EXPECT_EQ(used(*names, 1), "");
  EXPECT_EQ(used(*names, 2), "2-3");
  add(names, Records("flat:8").submit(2, 3, 3, 9).launch(2, 3, 3).submit(2, 4, 1, 9).launch(2, 4, 1));
  EXPECT_EQ(used(*names, 2), "2-3");
  EXPECT_EQ(used(*names, 3), "0-2");
  EXPECT_EQ(used(*names, 4), "3");
}

TEST(CoreNames, WhereTheLogNamesCoresTheyAreTaken) {
  const CoreNames names = names_of(Records("2x4")
                                       .submit(0, 1, 6, 9)
                                       .launch_on(0, 1, {{5, 2}, {1, 2}, {0, 2}}, 2)
                                       .resized_on(1, 1, {{0, 1}, {1, 1}, {2, 1}, {5, 1}, {6, 1}, {7, 1}}, 1)
                                       .finish(2, 1));
  EXPECT_EQ(used(names, 1), "0-2 5-7");
  EXPECT_TRUE(names.held(JobId{1}).empty());
}

TEST(CoreNames, SuspendedJobsLendTheirCores) {
  const CoreNames pool = names_of(Records("flat:4")
                                      .submit(0, 1, 4, 9)
                                      .launch(0, 1, 4)
                                      .suspended(1, 1)
                                      .submit(1, 2, 4, 9)
                                      .launch(1, 2, 4)
                                      .finish(2, 2)
                                      .resumed(2, 1));
  EXPECT_EQ(used(pool, 1), "0-3");
  EXPECT_EQ(used(pool, 2), "0-3");
  const CoreNames named =
      names_of(Records("1x4").submit(0, 1, 2, 9).launch_on(0, 1, {{2, 1}, {3, 1}}).suspended(1, 1).resumed(2, 1));
  ASSERT_EQ(named.held(JobId{1}).size(), 1u);
  EXPECT_EQ(named.held(JobId{1})[0], (CoreRange{CoreId{2}, CoreId{3}}));
  EXPECT_EQ(used(names_of(Records("1x4").submit(0, 1, 2, 9).launch_on(0, 1, {{2, 1}, {3, 1}}).suspended(1, 1)), 1),
            "2-3");
}

TEST(CoreNames, JobsThatShareACoreBothHaveItsName) {
  Records records("1x4");
  records.submit(0, 1, 2, 9)
      .launch_shared(0, 1, {{0, 1}, {1, 1}})
      .submit(0, 2, 2, 9)
      .launch_shared(0, 2, {{1, 1}, {2, 1}});
  test::Followed<CoreNames> names;
  records.feed(names);
  EXPECT_EQ(used(*names, 1), "0-1");
  EXPECT_EQ(used(*names, 2), "1-2");
  ASSERT_EQ(names->held(JobId{1}).size(), 1u);
  EXPECT_EQ(names->held(JobId{1})[0], first_cores(2));
  names.record({Instant{}, log::Finished{JobId{1}, {}}});
  ASSERT_EQ(names->held(JobId{2}).size(), 1u);
  EXPECT_EQ(names->held(JobId{2})[0], (CoreRange{CoreId{1}, CoreId{2}})) << "the other's end takes nothing from it";
}

TEST(CoreNames, AJobThatNeverRanUsedNothing) { EXPECT_EQ(used(names_of(Records("flat:4").submit(0, 1, 1, 1)), 1), ""); }

TEST(CoreNames, MoreCoresThanThereAreBetrayABrokenLog) {
  EXPECT_THROW(names_of(Records("flat:4").submit(0, 1, 3, 9).launch(0, 1, 3).submit(0, 2, 2, 9).launch(0, 2, 2)),
               InputError);
}

TEST(NumberedPool, JoinsWhatComesBack) {
  NumberedPool pool(10);
  CoreRanges a, b, c;
  pool.take(3, a);
  pool.take(3, b);
  pool.take(4, c);
  pool.give_back(c);
  pool.give_back(a);
  pool.give_back(b);
  CoreRanges all;
  pool.take(10, all);
  EXPECT_EQ(all, CoreRanges{first_cores(10)});
}

}  // namespace
}  // namespace replay::metrics
