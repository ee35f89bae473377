#include "scheduler/report/page/levels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace replay::report {
namespace {

StretchRow row(double from, double to, std::int32_t job, std::int32_t first, std::int32_t last) {
  return {.from = from, .to = to, .job = job, .first = first, .last = last, .processes = last - first + 1};
}

using Lines = std::vector<std::string>;

// "job 1: 0-20 on 0-3", with "merged, 2 of 4 used" if it is, sorted.
Lines picture(const std::vector<StretchRow>& rows, const Frame& frame) {
  Lines lines;
  for (const StretchRow& drawn : picture_of(rows, frame))
    lines.push_back(fmt::format(
        "job {}: {:g}-{:g} on {}-{}{}", drawn.job, drawn.from, drawn.to, drawn.first, drawn.last,
        (drawn.flags & kMerged) != 0 ? fmt::format(" merged, {} of 4 used", used_quarters_of(drawn.flags)) : ""));
  std::ranges::sort(lines);
  return lines;
}

constexpr Frame kTenCells{.begin = 0, .end = 100, .cores = 4, .columns = 10};

TEST(PictureOf, EqualCellsAreOneRectangle) {
  EXPECT_EQ(picture({row(0, 100, 1, 0, 3)}, kTenCells), Lines{"job 1: 0-100 on 0-3"});
  EXPECT_EQ(picture({row(10, 40, 1, 0, 1), row(10, 40, 2, 2, 3)}, kTenCells),
            (Lines{"job 1: 10-40 on 0-1", "job 2: 10-40 on 2-3"}));
}

TEST(PictureOf, ACellShowsTheJobWithTheLargestShareAndSaysIfThatIsLessThanHalf) {
  EXPECT_EQ(picture({row(0, 6, 1, 0, 0), row(6, 10, 2, 0, 0)}, kTenCells), Lines{"job 1: 0-10 on 0-0"});
  EXPECT_EQ(picture({row(0, 4, 1, 0, 0), row(4, 7, 2, 0, 0), row(7, 10, 3, 0, 0)}, kTenCells),
            Lines{"job 1: 0-10 on 0-0 merged, 4 of 4 used"});
}

TEST(PictureOf, ACellOfWhichLessThanATwentiethIsUsedStaysEmpty) {
  EXPECT_EQ(picture({row(0, 0.4, 1, 0, 0), row(10, 10.6, 2, 0, 0)}, kTenCells),
            Lines{"job 2: 10-20 on 0-0 merged, 1 of 4 used"});
}

TEST(PictureOf, AMergedCellSaysHowManyQuartersOfItAreUsed) {
  EXPECT_EQ(picture({row(0, 2.5, 1, 0, 0), row(10, 12.6, 2, 0, 0), row(20, 24, 3, 0, 0), row(24, 25, 4, 0, 0),
                     row(30, 34, 5, 0, 0), row(34, 37.5, 6, 0, 0), row(40, 44, 7, 0, 0), row(44, 48, 8, 0, 0)},
                    kTenCells),
            (Lines{"job 1: 0-10 on 0-0 merged, 1 of 4 used", "job 2: 10-20 on 0-0 merged, 2 of 4 used",
                   "job 3: 20-30 on 0-0 merged, 2 of 4 used", "job 5: 30-40 on 0-0 merged, 3 of 4 used",
                   "job 7: 40-50 on 0-0 merged, 4 of 4 used"}));
}

TEST(PictureOf, ACellOfMergedCellsIsUsedAsMuchAsTheyAre) {
  StretchRow half = row(0, 10, -1, 0, 0), full = row(10, 20, -1, 0, 0);
  half.flags = kMerged | used_quarters(2);
  full.flags = kMerged | used_quarters(4);
  const Frame fine{.begin = 0, .end = 100, .cores = 1, .columns = 10},
      coarse{.begin = 0, .end = 100, .cores = 1, .columns = 5};
  EXPECT_EQ(picture({half, full}, fine),
            (Lines{"job -1: 0-10 on 0-0 merged, 2 of 4 used", "job -1: 10-20 on 0-0 merged, 4 of 4 used"}));
  EXPECT_EQ(picture({half, full}, coarse), Lines{"job -1: 0-20 on 0-0 merged, 3 of 4 used"});
}

TEST(PictureOf, MergedCellsOfOneUseAreOneRectangleWhereJobsAreNotNamed) {
  std::vector<StretchRow> rows;
  for (int i = 0; i < 8; ++i) rows.push_back(row(i * 2.5, (i + 1) * 2.5, i, 0, 3));
  Frame frame = kTenCells;
  EXPECT_EQ(picture(rows, frame),
            (Lines{"job 0: 0-10 on 0-3 merged, 4 of 4 used", "job 4: 10-20 on 0-3 merged, 4 of 4 used"}));
  frame.names_merged = false;
  EXPECT_EQ(picture(rows, frame), Lines{"job -1: 0-20 on 0-3 merged, 4 of 4 used"});
}

TEST(PictureOf, ASuspendedJobHidesNoneThatRunsOnItsCores) {
  StretchRow asleep = row(0, 100, 1, 0, 3);
  asleep.flags = kSuspended;
  std::vector<StretchRow> rows{asleep};
  for (int i = 0; i < 4; ++i) rows.push_back(row(i * 2.5, i * 2.5 + 2, 2 + i, 0, 3));
  const std::vector<StretchRow> drawn = picture_of(rows, kTenCells);
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].job, 2);
  EXPECT_EQ(drawn[0].flags, kMerged | used_quarters(4)) << "8 of the 10 s are used, whichever job is suspended there";
  EXPECT_EQ(drawn[1].job, 1);
  EXPECT_EQ(drawn[1].flags, kSuspended);
  EXPECT_EQ(drawn[1].to, 100);
}

TEST(PictureOf, BeginAndEndAreRoundedToCells) {
  EXPECT_EQ(picture({row(12, 38, 1, 0, 0)}, kTenCells), Lines{"job 1: 10-40 on 0-0"});
  EXPECT_EQ(picture({row(0, 100, 1, 0, 0)}, {.begin = 0, .end = 99, .cores = 4, .columns = 10}),
            Lines{"job 1: 0-99 on 0-0"})
      << "nothing lies beyond the frame";
}

TEST(PictureOf, OfMoreCoresThanBandsSeveralAreOneCell) {
  const Frame frame{.begin = 0, .end = 10, .cores = 1000, .columns = 1};
  EXPECT_EQ(cell_cores(1000), 4);
  EXPECT_EQ(picture({row(0, 10, 1, 0, 5), row(0, 10, 2, 6, 7), row(0, 10, 3, 999, 999)}, frame),
            (Lines{"job 1: 0-10 on 0-7", "job 3: 0-10 on 996-999 merged, 1 of 4 used"}))
      << "job 1 has as much of cores 4 to 7 as job 2, and came first";
}

TEST(PictureOf, JobsWithOtherFlagsOrSizesAreNotOneRectangle) {
  StretchRow shrunk = row(20, 40, 1, 0, 1);
  shrunk.flags = kShrunk;
  shrunk.mpl = 2;
  EXPECT_EQ(picture({row(0, 20, 1, 0, 1), shrunk}, kTenCells), (Lines{"job 1: 0-20 on 0-1", "job 1: 20-40 on 0-1"}));
}

TEST(LevelsOf, FewStretchesNeedNone) {
  std::vector<StretchRow> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(row(i, i + 1, i, 0, 3));
  EXPECT_TRUE(levels_of(rows, {.begin = 0, .end = 1000, .cores = 4}).empty());
}

// A million rows on 1024 cores, each core busy all the time.
std::vector<StretchRow> many_rows() {
  std::vector<StretchRow> rows;
  for (int i = 0; i < 250'000; ++i) rows.push_back(row(i / 256, i / 256 + 1, i, i % 256 * 4, i % 256 * 4 + 3));
  return rows;
}

TEST(LevelsOf, ManyStretchesHaveFewerRectanglesTheCoarserTheLevel) {
  const std::vector<StretchRow> rows = many_rows();
  const std::vector<Level> levels = levels_of(rows, {.begin = 0, .end = 977, .cores = 1024, .columns = 64});
  ASSERT_GE(levels.size(), 2u);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_LT(levels[i].stretches.size(), rows.size());
    EXPECT_EQ(levels[i].cell_cores, 4);
    EXPECT_TRUE(std::ranges::is_sorted(levels[i].stretches.from));
    if (i == 0) continue;
    EXPECT_GT(levels[i].cell_seconds, levels[i - 1].cell_seconds) << "the finest is first";
    EXPECT_LT(levels[i].stretches.size(), levels[i - 1].stretches.size());
  }
}

}  // namespace
}  // namespace replay::report
