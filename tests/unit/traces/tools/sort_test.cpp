#include "traces/tools/sort.hpp"

#include <gtest/gtest.h>

#include "tests/unit/traces/tools/trace_text.hpp"

namespace replay {
namespace {

using test::job_line;
using test::ToolTest;
using Jobs = std::vector<std::int64_t>;

SortResult sort(const ToolTest& tool, const SortOptions& options = {}) {
  TraceReader reader(tool.input());
  TraceWriter writer(tool.output(), {.force = true});
  const SortResult result = sort_trace(reader, writer, options, "replay trace sort");
  writer.close();
  return result;
}

TEST(Sort, BySubmitTimeThenJobNumber) {
  const ToolTest tool(job_line(3) + job_line(1) + job_line(5, {{2, "20"}}) + job_line(2));
  EXPECT_EQ(sort(tool).moved, 3U);
  EXPECT_EQ(tool.jobs(), (Jobs{1, 2, 5, 3}));
}

TEST(Sort, WhatHasNoSubmitTimeStaysBelowWhatItStandsBelow) {
  const ToolTest tool(job_line(3, {{11, "1"}}) + job_line(3, {{11, "2"}}) + job_line(3, {{2, "-1"}, {11, "3"}}) +
                      job_line(1) + job_line(9, {{2, "-1"}}));
  sort(tool);
  EXPECT_EQ(tool.jobs(), (Jobs{1, 9, 3, 3, 3}));
  EXPECT_EQ(tool.entries().at(3).record.status, 2);
}

TEST(Sort, RenumberTakesPredecessorsAndTheSideFileAlong) {
  const ToolTest tool(job_line(30, {{17, "10"}, {18, "1"}}) + job_line(10) + job_line(20, {{17, "99"}, {18, "1"}}),
                      "job,ov\n30,0.5\n");
  const SortResult result = sort(tool, {.renumber = true});
  const std::vector<TraceEntry> entries = tool.entries();
  EXPECT_EQ(tool.jobs(), (Jobs{1, 2, 3}));
  EXPECT_EQ(entries[2].record.preceding, 1);
  EXPECT_EQ(entries[2].traits.network_overhead, 0.5);
  EXPECT_EQ(entries[1].record.preceding, -1);
  EXPECT_EQ(entries[1].record.think_time, kUnknownTime);
  EXPECT_EQ(result.orphans, 1U);
}

}  // namespace
}  // namespace replay
