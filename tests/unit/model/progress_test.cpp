#include "scheduler/model/progress.hpp"

#include <gtest/gtest.h>

namespace replay {
namespace {

using namespace std::chrono_literals;

Instant at(Duration d) { return Instant{d}; }

TEST(Work, AtFullSpeedTakesItsOwnTime) { EXPECT_EQ(Progress(5s, at(2s), 1).end(), at(7s)); }

TEST(Work, AtHalfSpeedTakesTwiceAsLong) {
  Progress progress{4s, at(0s), 1};
  progress.change_rate(at(1s), 0.5);
  EXPECT_EQ(progress.end(), at(7s));
  progress.change_rate(at(3s), 1);
  EXPECT_EQ(progress.end(), at(5s));
}

TEST(Work, SuspendedNeverEnds) {
  Progress progress{4s, at(0s), 1};
  progress.change_rate(at(1s), 0);
  EXPECT_EQ(progress.end(), kNever);
  progress.change_rate(at(10s), 1);
  EXPECT_EQ(progress.end(), at(13s));
}

TEST(Work, EndsAreRoundedUp) { EXPECT_EQ(Progress(1us, at(0s), 0.3).end(), at(4us)); }

TEST(Work, OfNothingHasEnded) { EXPECT_EQ(Progress(0s, at(3s), 0).end(), at(3s)); }

TEST(Work, IsDoneAtItsEndAlsoWhereRoundingWouldLeaveATrace) {
  const double rate = 1 / 1.04;
  const Duration work = 65s;
  Progress progress{work, at(0s), rate};
  const Instant end = progress.end();
  ASSERT_GT(static_cast<double>(work.count()) - static_cast<double>(end.time_since_epoch().count()) * rate, 0);
  progress.change_rate(end, 0.5);
  EXPECT_EQ(progress.end(), end);
}

TEST(Work, StaysDoneSinceItsEndWhateverTheRateBecomes) {
  Progress progress{4s, at(0s), 1};
  progress.change_rate(at(6s), 0.5);
  EXPECT_EQ(progress.end(), at(4s));
  progress.change_rate(at(8s), 0);
  EXPECT_EQ(progress.end(), at(4s));
}

}  // namespace
}  // namespace replay
