#include "traces/tools/cut.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/tools/trace_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::message_of;
using test::ToolTest;
using Jobs = std::vector<std::int64_t>;

// Jobs 1 to 5, submitted at 10, 20, ... 50 s after Tuesday noon.
const std::string kLog =
    "; Acknowledge: somebody\n; MaxProcs: 8\n; MaxRecords: 5\n; UnixStartTime: 1000036800\n; TimeZoneString: Etc/UTC\n"
    "; StartTime: Sun Sep 09 12:00:00 UTC 2001\n; EndTime: never\n" +
    job_line(1) + job_line(2, {{12, "3"}}) + "; a word about job 3\n" + job_line(3) +
    job_line(4, {{15, "0"}, {16, "2"}, {17, "2"}, {18, "5"}}) + job_line(5);

CutResult cut(const ToolTest& tool, const CutOptions& options) {
  TraceReader reader(tool.input());
  TraceWriter writer(tool.output(), {.force = true});
  const CutResult result = cut_trace(reader, writer, options, "replay trace cut ...");
  writer.close();
  return result;
}

Jobs jobs_of(const CutOptions& options) {
  const ToolTest tool(kLog);
  cut(tool, options);
  return tool.jobs();
}

TEST(Cut, FromIsIncludedAndToIsNot) {
  EXPECT_EQ(jobs_of({.from = TimeBound{.since_zero = 20s}, .to = TimeBound{.since_zero = 40s}}), (Jobs{2, 3}));
  EXPECT_EQ(jobs_of({.from = parse_time_bound("--from", "2001-09-09T12:00:30")}), (Jobs{3, 4, 5}));
  EXPECT_EQ(jobs_of({.to = parse_time_bound("--to", "15s")}), (Jobs{1}));
}

TEST(Cut, ByJobNumberUserQueuePartitionAndPosition) {
  EXPECT_EQ(jobs_of({.jobs = parse_ranges("--jobs", "2,4-")}), (Jobs{2, 4, 5}));
  EXPECT_EQ(jobs_of({.users = parse_ranges("--user", "3")}), (Jobs{2}));
  EXPECT_EQ(jobs_of({.queues = parse_ranges("--queue", "0")}), (Jobs{4}));
  EXPECT_EQ(jobs_of({.partitions = parse_ranges("--partition", "2")}), (Jobs{4}));
  EXPECT_EQ(jobs_of({.skip = 1, .first = 2}), (Jobs{2, 3}));
  EXPECT_EQ(jobs_of({.jobs = parse_ranges("--jobs", "2-"), .skip = 1, .first = 1}), (Jobs{3}));
}

TEST(Cut, TheHeaderKeepsItsThanksAndLosesItsTotals) {
  const ToolTest tool(kLog);
  cut(tool, {.first = 2});
  const SwfHeader header = tool.header();
  EXPECT_EQ(header.find("Acknowledge"), "somebody");
  EXPECT_EQ(header.max_procs(), 8);
  EXPECT_FALSE(header.max_records());
  EXPECT_FALSE(header.find("EndTime"));
  EXPECT_EQ(header.find("Note"), "made by: replay trace cut ...");
  EXPECT_EQ(header.unix_start_time(), 1000036800);
}

TEST(Cut, RebaseMakesTheFirstKeptSecondTheZero) {
  const ToolTest tool(kLog);
  const CutResult result = cut(tool, {.jobs = parse_ranges("--jobs", "3-"), .rebase = true});
  EXPECT_EQ(result.moved, Duration{30s});
  EXPECT_EQ(tool.entries().front().record.submit, Duration{});
  EXPECT_EQ(tool.entries().back().record.submit, Duration{20s});
  EXPECT_EQ(tool.header().unix_start_time(), 1000036830);
  EXPECT_EQ(tool.header().find("StartTime"), "Sun Sep 09 12:00:30 UTC 2001");
}

TEST(Cut, RebaseRefusesAJobBeforeTheNewZero) {
  const ToolTest tool(job_line(2) + job_line(1));
  const std::string message = message_of<InputError>([&] { cut(tool, {.rebase = true}); });
  EXPECT_NE(message.find("in.swf:2: job 1: expected a submit time from the new zero 20 on, found 10"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("replay trace sort"), std::string::npos);
}

TEST(Cut, AJobWhosePredecessorIsGoneFollowsNobody) {
  const ToolTest tool(kLog);
  EXPECT_EQ(cut(tool, {.jobs = parse_ranges("--jobs", "3-")}).orphans, 1U);
  EXPECT_EQ(tool.entries().at(1).record.preceding, -1);
  EXPECT_EQ(tool.entries().at(1).record.think_time, kUnknownTime);
  EXPECT_EQ(cut(tool, {.jobs = parse_ranges("--jobs", "2-")}).orphans, 0U);
  EXPECT_EQ(tool.entries().at(2).record.preceding, 2);
  EXPECT_EQ(tool.entries().at(2).record.think_time, Duration{5s});
}

TEST(Cut, BurstsHaveTheFateOfTheirJobAndDoNotCount) {
  const std::string bursts = job_line(7, {{11, "1"}}) + job_line(7, {{11, "2"}}) + job_line(7, {{2, "-1"}, {11, "3"}});
  const ToolTest tool(bursts + job_line(8));
  cut(tool, {.first = 1});
  EXPECT_EQ(tool.jobs(), (Jobs{7, 7, 7}));
  cut(tool, {.from = TimeBound{.since_zero = 0s}, .to = TimeBound{.since_zero = 75s}});
  EXPECT_EQ(tool.jobs(), (Jobs{7, 7, 7})) << "the last burst has no submit time, but its job has";
  cut(tool, {.skip = 1});
  EXPECT_EQ(tool.jobs(), (Jobs{8}));
}

TEST(Cut, TheSideFileIsCutToo) {
  const ToolTest tool(kLog, "job,cpu_util\n1,0.1\n3,0.3\n5,0.5\n");
  cut(tool, {.jobs = parse_ranges("--jobs", "2-3")});
  EXPECT_EQ(test::text_of(tool / "out.jobs.csv").find("\n1,"), std::string::npos);
  EXPECT_EQ(tool.entries().at(1).traits.cpu_use, 0.3);
}

TEST(Cut, NothingLeftIsAnError) {
  const ToolTest tool(kLog);
  EXPECT_NE(message_of<InputError>([&] {
              cut(tool, {.users = parse_ranges("--user", "99")});
            }).find("nothing is left: none of 5 records"),
            std::string::npos);
}

TEST(Cut, DatesNeedAHeaderThatTellsTheZero) {
  const ToolTest tool("; MaxProcs: 8\n" + job_line(1));
  const std::string message = message_of<UsageError>([&] { cut(tool, {.month = parse_local_month("1996-10")}); });
  EXPECT_NE(message.find("UnixStartTime and TimeZoneString"), std::string::npos) << message;
}

TEST(Cut, WrongRangesAndTimesAreNamed) {
  for (const char* text : {"", "x", "5-3", "1,,2", "-5", "1-2-3"})
    EXPECT_THROW((void)parse_ranges("--jobs", text), UsageError) << text;
  for (const char* text : {"", "soon", "1996-10", "-5s"})
    EXPECT_THROW((void)parse_time_bound("--from", text), UsageError) << text;
}

}  // namespace
}  // namespace replay
