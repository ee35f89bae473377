// The grid of Scojo-PECT: how an interval is cut.
#include "scheduler/policy/slicing/slices.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "scheduler/base/error.hpp"

namespace replay::test {
namespace {

using namespace std::chrono_literals;

constexpr ClassesWithJobs kNone{}, kShort{true, false, false}, kMedium{false, true, false}, kLong{false, false, true},
    kAll{true, true, true}, kMediumAndLong{false, true, true}, kShortAndLong{true, false, true};

SliceSettings paper() { return {1h, 10min, 60s, true, SliceShares{"30/70"}}; }

// "medium 60-1080, long 1140-3600": when the jobs of each class run.
std::string cut(const SliceSettings& settings, const ClassesWithJobs& with_jobs, Instant start = Instant{},
                Duration time_of_day = 0s, std::optional<JobClass> before = {}) {
  const Slice last{before.value_or(JobClass::kShort), start, start, start};
  std::string text;
  for (const Slice& slice : slices_of(settings, start, time_of_day, with_jobs, before ? &last : nullptr))
    text += fmt::format("{}{} {}-{}", text.empty() ? "" : ", ", to_text(slice.job_class), to_text(slice.begins),
                        to_text(slice.ends));
  return text;
}

TEST(Slices, OfMediumAndLongJobsShareTheIntervalByTheirWeights) {
  EXPECT_EQ(cut(paper(), kMediumAndLong), "medium 60-1080, long 1140-3600");
  EXPECT_EQ(cut(paper(), kMediumAndLong, Instant{7200s}), "medium 7260-8280, long 8340-10800");
}

TEST(Slices, OfShortJobsComeFirstAndTheRestIsShared) {
  EXPECT_EQ(cut(paper(), kAll), "short 60-600, medium 660-1500, long 1560-3600");
}

TEST(Slices, OfAClassWithoutJobsGoToTheOthers) {
  EXPECT_EQ(cut(paper(), kMedium), "medium 60-3600");
  EXPECT_EQ(cut(paper(), kLong), "long 60-3600");
  EXPECT_EQ(cut(paper(), kShortAndLong), "short 60-600, long 660-3600");
  EXPECT_EQ(cut(paper(), kShort), "short 60-3600");
}

TEST(Slices, OfAnEmptyMachineAreThoseOfMediumAndLongJobs) {
  EXPECT_EQ(cut(paper(), kNone), "medium 60-1080, long 1140-3600");
}

TEST(Slices, HaveNoOverheadWhereTheClassStaysIfThatIsWanted) {
  SliceSettings settings = paper();
  settings.overhead_at_every_slice = false;
  EXPECT_EQ(cut(settings, kMediumAndLong, Instant{}, 0s, JobClass::kLong), "medium 60-1080, long 1140-3600");
  EXPECT_EQ(cut(settings, kLong, Instant{3600s}, 0s, JobClass::kLong), "long 3600-7200");
  EXPECT_EQ(cut(settings, kLong, Instant{3600s}, 0s, JobClass::kMedium), "long 3660-7200");
}

TEST(Slices, MayHaveOtherSharesAtOtherHoursOfTheDay) {
  SliceSettings settings = paper();
  settings.shares = SliceShares{"8-18=50/50,22-6=0/1,40/60"};
  EXPECT_EQ(cut(settings, kMediumAndLong, Instant{}, 8h), "medium 60-1800, long 1860-3600");
  EXPECT_EQ(cut(settings, kMediumAndLong, Instant{}, 18h), "medium 60-1440, long 1500-3600");
  EXPECT_EQ(cut(settings, kMediumAndLong, Instant{}, 23h), "long 60-3600") << "a class may live on guests";
  EXPECT_EQ(cut(settings, kMediumAndLong, Instant{}, 5h), "long 60-3600");
  EXPECT_EQ(cut(settings, kMedium, Instant{}, 5h), "medium 60-3600") << "unless it is the only one";
  EXPECT_EQ(SliceShares{"8-18=50/50"}.at(7h), (SliceShare{30, 70})) << "the paper's, where none is given";
}

TEST(Slices, RefuseSharesThatSayNothing) {
  for (const char* text :
       {"", "30", "30/70/5", "0/0", "-1/2", "8-18", "8-25=1/1", "8-8=1/1", "1/2,3/4", "8=1/2", "a/b"})
    EXPECT_THROW(SliceShares{text}, UsageError) << text;
}

TEST(Slices, MustBeLongerThanTheirOverhead) {
  EXPECT_NO_THROW(expect_useful_slices(paper()));
  SliceSettings settings = paper();
  settings.overhead = 600s;
  EXPECT_THROW(expect_useful_slices(settings), UsageError) << "the short slice";
  settings = paper();
  settings.shares = SliceShares{"9-10=1/99,30/70"};
  EXPECT_THROW(expect_useful_slices(settings), UsageError) << "36 s for medium jobs";
  settings = paper();
  settings.short_slice = 2h;
  EXPECT_THROW(expect_useful_slices(settings), UsageError);
}

TEST(Slices, BelongToIntervalsThatAreCountedFromZero) {
  EXPECT_EQ(interval_of(paper(), Instant{3600s}), Instant{3600s});
  EXPECT_EQ(interval_of(paper(), Instant{3600s - 1us}), Instant{});
  EXPECT_EQ(interval_of(paper(), Instant{-1us}), Instant{-3600s});
}

}  // namespace
}  // namespace replay::test
