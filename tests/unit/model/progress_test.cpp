#include "scheduler/model/progress.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/support/random.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::Random;

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

TEST(Work, IsDoneAtItsEndAlsoWhereThatWasRoundedUp) {
  Progress progress{10us, at(0s), 0.3};
  ASSERT_EQ(progress.end(), at(34us));
  progress.change_rate(at(34us), 0.1);
  EXPECT_EQ(progress.end(), at(34us));
}

TEST(Work, OfWholeSecondsTakesWholeSecondsAtASlowdownThatNoDoubleIs) {
  EXPECT_EQ(Progress(1000s, at(0s), 1 / 1.08).end(), at(1080s));
  EXPECT_EQ(Progress(1000s, at(0s), 1 / (1.4 * 1.08)).end(), at(1512s));
}

TEST(Work, OfWhichTheLastIsDoneAtTheEndOfASliceDoesNotGoOnInTheNext) {
  Progress progress{1400s, at(0s), 1 / 1.08};
  progress.change_rate(at(756s), 0);
  progress.change_rate(at(1000s), 1 / 1.08);
  EXPECT_EQ(progress.end(), at(1756s));
  progress.change_rate(at(1756s), 0);
  EXPECT_EQ(progress.end(), at(1756s));
}

TEST(Work, StaysDoneSinceItsEndWhateverTheRateBecomes) {
  Progress progress{4s, at(0s), 1};
  progress.change_rate(at(6s), 0.5);
  EXPECT_EQ(progress.end(), at(4s));
  progress.change_rate(at(8s), 0);
  EXPECT_EQ(progress.end(), at(4s));
}

// In hundredths; each divides kParts: what is done in a microsecond is a whole number of parts of a microsecond's work.
constexpr std::array<std::int64_t, 10> kSlowdowns{75, 100, 104, 108, 125, 140, 162, 180, 250, 300};
constexpr std::int64_t kParts = std::accumulate(kSlowdowns.begin(), kSlowdowns.end(), std::int64_t{1},
                                                [](std::int64_t a, std::int64_t b) { return std::lcm(a, b); });

std::int64_t any_slowdown(Random& random) { return kSlowdowns.at(random.below(kSlowdowns.size())); }
double rate_at(std::int64_t slowdown) { return 1.0 / (static_cast<double>(slowdown) / 100); }

// Each stretch does a whole number of microseconds of work in a whole number of microseconds; between some of them the
// job is suspended, and there are moments of other rates.
TEST(WorkProperties, AWholeResultStaysWholeThroughStretchesSuspensionsAndMoments) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random random(seed);
    struct Stretch {
      std::int64_t slowdown, hundreds;  // of us of work
    };
    std::vector<Stretch> stretches;
    std::int64_t work = 0;
    const std::int64_t most = random.between(1, 1'000'000'000);
    for (auto left = random.between(1, 40); left > 0; --left) {
      stretches.push_back({any_slowdown(random), random.between(1, most)});
      work += 100 * stretches.back().hundreds;
    }
    Instant now{Duration{random.between(0, 1'000'000'000'000)}};
    Progress progress{Duration{work}, now, rate_at(stretches.front().slowdown)};
    for (const Stretch& stretch : stretches) {
      if (random.one_in(3)) {
        progress.change_rate(now, 0);
        now += Duration{random.between(0, 1'000'000'000)};
      }
      if (random.one_in(3)) progress.change_rate(now, rate_at(any_slowdown(random)));
      progress.change_rate(now, rate_at(stretch.slowdown));
      now += Duration{stretch.slowdown * stretch.hundreds};
    }
    ASSERT_EQ(progress.end(), now) << "seed " << seed;
    progress.change_rate(now, 0);
    ASSERT_EQ(progress.end(), now) << "seed " << seed;
  }
}

TEST(WorkProperties, AnEndIsRoundedUpOnceHoweverOftenTheRateHasChanged) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random random(seed);
    const std::int64_t work = random.between(1, 1'000'000'000);
    std::int64_t left = work * kParts;
    Instant now{};
    std::int64_t slowdown = any_slowdown(random);
    Progress progress{Duration{work}, now, rate_at(slowdown)};
    for (auto changes = random.between(0, 40); changes > 0; --changes) {
      const std::int64_t stretch = random.between(0, work / 10 + 1);
      const std::int64_t done = stretch * 100 * (kParts / slowdown);
      if (done >= left) break;
      left -= done;
      now += Duration{stretch};
      slowdown = any_slowdown(random);
      progress.change_rate(now, rate_at(slowdown));
    }
    // What exceeds a whole number by a part in 10^14 of the work at the slowest counts as that number.
    const std::int64_t whole = 100 * kParts, exceeds = whole / 30'000;
    const auto rounded_up = [&](std::int64_t parts) { return now + Duration{(parts + whole - 1) / whole}; };
    ASSERT_LE(progress.end(), rounded_up(left * slowdown)) << "seed " << seed;
    ASSERT_GE(progress.end(), rounded_up(left * slowdown - exceeds)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace replay
