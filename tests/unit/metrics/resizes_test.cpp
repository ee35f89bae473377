#include "scheduler/metrics/resizes.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/metrics/records.hpp"

namespace replay::metrics {
namespace {

using Lines = std::vector<std::string>;

log::StartDecided start(int job, const std::vector<test::OnCore>& on) {
  return {JobId{job}, {static_cast<CoreCount>(on.size()), 1, test::core_loads(on)}};
}
log::ResizeDecided resize(int job, const std::vector<test::OnCore>& on, int mpl) {
  return {JobId{job}, {static_cast<CoreCount>(on.size()), mpl, test::core_loads(on)}};
}

// "1 at 2.5: 4 to 2 for 2": job, instant ("-": not done), cores, and in favour of which job.
Lines resizes_of(const Records& records) {
  Resizes resizes;
  records.feed(resizes);
  Lines lines;
  for (const Resize& one : resizes.all())
    lines.push_back(fmt::format("{} at {}: {} to {}{}", number(one.job), one.at == kNever ? "-" : to_text(one.at),
                                one.from, one.to,
                                one.in_favour_of ? fmt::format(" for {}", number(*one.in_favour_of)) : ""));
  return lines;
}

Records four_on_four() {
  return Records("1x4")
      .submit(0, 1, 4, 9)
      .add(0, start(1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}))
      .launch_on(0, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}});
}

TEST(Resizes, AJobIsShrunkForTheOneThatGetsItsCores) {
  EXPECT_EQ(resizes_of(four_on_four()
                           .submit(2, 2, 2, 5)
                           .submit(2, 3, 1, 5)
                           .add(2, resize(1, {{0, 2}, {1, 2}}, 2))
                           .add(2, start(2, {{2, 1}, {3, 1}}))
                           .resized_on(2.5, 1, {{0, 2}, {1, 2}}, 2)
                           .launch_on(2.5, 2, {{2, 1}, {3, 1}})
                           .finish(7, 2)
                           .add(7, resize(1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 1))
                           .resized_on(7.5, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}, 1)),
            (Lines{"1 at 2.5: 4 to 2 for 2", "1 at 7.5: 2 to 4"}));
}

TEST(Resizes, AJobThatIsStartedOnOtherCoresIsNotTheReason) {
  EXPECT_EQ(resizes_of(Records("1x6")
                           .submit(0, 1, 4, 9)
                           .add(0, start(1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}))
                           .launch_on(0, 1, {{0, 1}, {1, 1}, {2, 1}, {3, 1}})
                           .submit(2, 2, 2, 5)
                           .submit(2, 3, 2, 5)
                           .add(2, resize(1, {{0, 2}, {1, 2}}, 2))
                           .add(2, start(2, {{4, 1}, {5, 1}}))
                           .add(2, start(3, {{2, 1}, {3, 1}}))
                           .resized_on(2, 1, {{0, 2}, {1, 2}}, 2)),
            Lines{"1 at 2: 4 to 2 for 3"});
}

TEST(Resizes, CoresThatAreTakenLaterWereNotGivenUpForThatJob) {
  EXPECT_EQ(resizes_of(four_on_four()
                           .submit(2, 2, 2, 5)
                           .add(2, resize(1, {{0, 2}, {1, 2}}, 2))
                           .resized_on(2, 1, {{0, 2}, {1, 2}}, 2)
                           .add(3, start(2, {{2, 1}, {3, 1}}))),
            Lines{"1 at 2: 4 to 2"});
}

TEST(Resizes, OfAPoolTheNextJobStartedAtThatInstantIsTheReason) {
  EXPECT_EQ(resizes_of(Records("flat:4")
                           .submit(0, 1, 4, 9)
                           .add(0, log::StartDecided{JobId{1}, {4, 1, {}}})
                           .launch(0, 1, 4)
                           .submit(2, 2, 2, 5)
                           .add(2, log::ResizeDecided{JobId{1}, {2, 2, {}}})
                           .add(2, log::StartDecided{JobId{2}, {2, 1, {}}})
                           .resized(2, 1, 2, 2)
                           .launch(2, 2, 2)),
            Lines{"1 at 2: 4 to 2 for 2"});
}

TEST(Resizes, TwoJobsMayBeShrunkForOne) {
  EXPECT_EQ(resizes_of(Records("1x4")
                           .submit(0, 1, 2, 9)
                           .submit(0, 2, 2, 9)
                           .add(0, start(1, {{0, 1}, {1, 1}}))
                           .launch_on(0, 1, {{0, 1}, {1, 1}})
                           .add(0, start(2, {{2, 1}, {3, 1}}))
                           .launch_on(0, 2, {{2, 1}, {3, 1}})
                           .submit(1, 3, 2, 9)
                           .add(1, resize(1, {{0, 2}}, 2))
                           .add(1, resize(2, {{2, 2}}, 2))
                           .add(1, start(3, {{1, 1}, {3, 1}}))
                           .resized_on(1.5, 2, {{2, 2}}, 2)
                           .resized_on(1.6, 1, {{0, 2}}, 2)),
            (Lines{"1 at 1.6: 2 to 1 for 3", "2 at 1.5: 2 to 1 for 3"}));
}

TEST(Resizes, OneThatIsNotDoneHasNoInstant) {
  EXPECT_EQ(resizes_of(four_on_four().add(2, resize(1, {{0, 2}, {1, 2}}, 2)).finish(3, 1)), Lines{"1 at -: 4 to 2"});
}

TEST(Resizes, ALogWithoutDecisionsHasThoseThatWereDone) {
  EXPECT_EQ(resizes_of(Records("flat:4").submit(0, 1, 4, 9).launch(0, 1, 4).resized(3, 1, 2, 2)),
            Lines{"1 at 3: 4 to 2"});
}

}  // namespace
}  // namespace replay::metrics
