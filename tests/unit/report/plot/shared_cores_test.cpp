// Tests of rectangles of jobs that share cores: they are cut where the company changes, and stand beside each other there.
#include "scheduler/report/plot/shared_cores.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace replay::report {
namespace {

StretchRow row(std::int32_t job, double from, double to, std::int32_t first, std::int32_t last, bool may_share = true) {
  return {.from = from,
          .to = to,
          .job = job,
          .first = first,
          .last = last,
          .processes = last - first + 1,
          .flags = may_share ? kShareable : std::uint8_t{0}};
}

// "job cores from-to lane/lanes", sorted.
std::vector<std::string> boxes(const std::vector<StretchRow>& rows) {
  std::vector<std::string> texts;
  for (const GanttBox& box : shared_cores(rows))
    texts.push_back(fmt::format("{} on {}-{} {}-{} {}/{}", box.row.job, box.row.first, box.row.last, box.row.from,
                                box.row.to, static_cast<int>(box.lane), static_cast<int>(box.lanes)));
  std::ranges::sort(texts);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(SharedCores, AJobAloneStaysWhole) {
  EXPECT_EQ(boxes({row(1, 0, 10, 0, 7), row(2, 0, 10, 8, 9, false)}),
            (Texts{"1 on 0-7 0-10 0/1", "2 on 8-9 0-10 0/1"}));
  EXPECT_EQ(boxes({row(1, 0, 10, 0, 3), row(2, 10, 20, 0, 3)}), (Texts{"1 on 0-3 0-10 0/1", "2 on 0-3 10-20 0/1"}));
}

TEST(SharedCores, AreCutWhereTheNeighbourComesAndGoes) {
  EXPECT_EQ(boxes({row(1, 0, 10, 0, 3), row(2, 4, 6, 0, 3)}),
            (Texts{"1 on 0-3 0-4 0/1", "1 on 0-3 4-6 0/2", "1 on 0-3 6-10 0/1", "2 on 0-3 4-6 1/2"}));
}

TEST(SharedCores, OfSomeOfTheCoresOnlyThoseAreSplit) {
  EXPECT_EQ(boxes({row(1, 0, 10, 0, 3), row(2, 0, 10, 2, 5)}),
            (Texts{"1 on 0-1 0-10 0/1", "1 on 2-3 0-10 0/2", "2 on 2-3 0-10 1/2", "2 on 4-5 0-10 0/1"}));
}

TEST(SharedCores, CoverExactlyWhatTheRowsCover) {
  std::vector<StretchRow> rows;
  for (int i = 0; i < 40; ++i)
    rows.push_back(row(i, (i * 7) % 30, (i * 7) % 30 + 3 + i % 5, (i * 5) % 11, (i * 5) % 11 + i % 4));
  double area = 0, boxed = 0;
  for (const StretchRow& one : rows) area += (one.to - one.from) * (one.last - one.first + 1);
  for (const GanttBox& box : shared_cores(rows))
    boxed += (box.row.to - box.row.from) * (box.row.last - box.row.first + 1);
  EXPECT_DOUBLE_EQ(area, boxed);
}

}  // namespace
}  // namespace replay::report
