// Tests of the shades of a coarse Gantt picture: each cell has that of its use.
#include "scheduler/report/plot/cell_use.hpp"

#include <gtest/gtest.h>

namespace replay::report {
namespace {

TEST(CellUse, ACellHasTheShadeOfItsUse) {
  // Two cores in cells of 10 s.
  const std::vector<StretchRow> rows{{.from = 0, .to = 2.5, .first = 0, .last = 0},
                                     {.from = 10, .to = 20, .first = 1, .last = 1},
                                     {.from = 20, .to = 40, .first = 0, .last = 1}};
  const std::vector<StretchRow> merged{{.from = 0, .to = 40, .first = 0, .last = 0},
                                       {.from = 10, .to = 40, .first = 1, .last = 1}};
  const ShadedRows shaded = shaded_by_use(merged, rows, {.begin = 0, .end = 40, .cores = 2, .columns = 4});
  ASSERT_EQ(shaded[0].size(), 1u);  // core 0 until 20 s: a quarter, then nothing
  EXPECT_EQ(shaded[0][0].from, 0);
  EXPECT_EQ(shaded[0][0].to, 20);
  ASSERT_EQ(shaded[3].size(), 2u);
  EXPECT_EQ(shaded[3][0].from, 10);  // core 1 beside it
  EXPECT_EQ(shaded[3][0].to, 20);
  EXPECT_EQ(shaded[3][0].first, 1);
  EXPECT_EQ(shaded[3][1].from, 20);  // both cores
  EXPECT_EQ(shaded[3][1].to, 40);
  EXPECT_EQ(shaded[3][1].first, 0);
  EXPECT_EQ(shaded[3][1].last, 1);
  EXPECT_TRUE(shaded[1].empty() && shaded[2].empty());
}

}  // namespace
}  // namespace replay::report
