#include "traces/tools/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/tools/trace_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::message_of;
using test::ToolTest;

MergeResult merge(const ToolTest& a, const ToolTest& b, const MergeOptions& options = {}) {
  TraceWriter writer(a.output(), {.force = true});
  const MergeResult result = merge_traces({a.trace(), b.trace()}, writer, options, "replay trace merge");
  writer.close();
  return result;
}

const std::string kA =
    "; Acknowledge: Alice\n; MaxProcs: 8\n; UnixStartTime: 1000\n; Program: 3 cg\n"
    ";\n; THIS SOFTWARE IS FREE TEXT\n" +
    job_line(10, {{2, "0"}, {12, "5"}, {14, "3"}, {15, "0"}}) + job_line(12, {{2, "30"}, {15, "2"}, {17, "10"}});
const std::string kB = "; Acknowledge: Bob\n; MaxProcs: 4\n; UnixStartTime: 1020\n; Program: 3 ep\n" +
                       job_line(10, {{2, "0"}, {12, "5"}, {14, "3"}, {15, "2"}}) +
                       job_line(11, {{2, "20"}, {17, "12"}});

TEST(Merge, BySubmitTimeWithNewNumbersAndPredecessorsThatFollow) {
  const ToolTest a(kA), b(kB);
  const MergeResult result = merge(a, b);
  const std::vector<TraceEntry> entries = a.entries();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(a.jobs(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(entries[1].record.submit, Duration{0s}) << "of equal times the first source's comes first";
  EXPECT_EQ(entries[2].record.submit, Duration{20s});
  EXPECT_EQ(entries[3].record.preceding, 1) << "A's job 10, not B's";
  EXPECT_EQ(entries[2].record.preceding, -1) << "B has no job 12";
  EXPECT_EQ(result.orphans, 1U);
  EXPECT_EQ(result.records, (std::vector<std::uint64_t>{2, 2}));
}

TEST(Merge, UsersExecutablesAndQueuesAreKeptApart) {
  const ToolTest a(kA), b(kB);
  merge(a, b);
  const std::vector<TraceEntry> entries = a.entries();
  EXPECT_EQ(entries[0].record.user, 10);
  EXPECT_EQ(entries[1].record.user, 11);
  EXPECT_EQ(entries[0].record.queue, 0) << "interactive stays interactive";
  EXPECT_EQ(entries[1].record.queue, 5);
  EXPECT_EQ(a.header().programs().at(entries[0].record.executable), "cg");
  EXPECT_EQ(a.header().programs().at(entries[1].record.executable), "ep");
}

TEST(Merge, ThePartitionIsTheSourceWhereNobodyHasPartitions) {
  const ToolTest a(kA), b(kB), c(job_line(1, {{16, "1"}}));
  merge(a, b);
  EXPECT_EQ(a.entries()[0].record.partition, 1);
  EXPECT_EQ(a.entries()[1].record.partition, 2);
  merge(a, c);
  EXPECT_EQ(a.entries()[0].record.partition, -1);
  EXPECT_EQ(a.entries()[1].record.partition, 3);
}

TEST(Merge, OneClockByUnixStartTime) {
  const ToolTest a(kA), b(kB);
  merge(a, b, {.align = Align::kUnix});
  const std::vector<TraceEntry> entries = a.entries();
  EXPECT_EQ(entries[1].record.submit, Duration{20s});
  EXPECT_EQ(entries[2].record.submit, Duration{30s});
  EXPECT_EQ(entries[3].record.submit, Duration{40s});
  EXPECT_EQ(a.header().unix_start_time(), 1000);
  const ToolTest c(job_line(1));
  EXPECT_NE(message_of<InputError>([&] { merge(a, c, {.align = Align::kUnix}); }).find("UnixStartTime"),
            std::string::npos);
}

TEST(Merge, ClocksThatAreTooFarApartAreAnError) {
  const ToolTest a(kA), far("; UnixStartTime: 9999999999\n" + job_line(1, {{2, "2000"}})),
      wrong("; UnixStartTime: 9000000000000000000\n" + job_line(1));
  EXPECT_NE(message_of<InputError>([&] {
              merge(a, far, {.align = Align::kUnix});
            }).find("UnixStartTime: 9999998999 s after the first source's"),
            std::string::npos);
  EXPECT_NE(message_of<InputError>([&] {
              merge(a, wrong, {.align = Align::kUnix});
            }).find("at most 10000000000, found 9000000000000000000"),
            std::string::npos);
  merge(a, far);
  EXPECT_EQ(a.entries().back().record.submit, Duration{2000s});
}

TEST(Merge, EverybodyIsThankedAndNoHeaderLineIsLost) {
  const ToolTest a(kA), b(kB);
  EXPECT_EQ(merge(a, b).machine, 12);
  EXPECT_EQ(merge(a, b, {.machine = MergedMachine::kLargest}).machine, 8);
  const SwfHeader header = a.header();
  EXPECT_EQ(header.max_procs(), 8);
  EXPECT_EQ(header.find_all("Acknowledge"), (std::vector<std::string_view>{"Alice", "Bob"}));
  const auto notes = header.find_all("Note");
  for (const char* note :
       {"source 1 of 2: THIS SOFTWARE IS FREE TEXT", "source 2 of 2: MaxProcs: 4", "made by: replay trace merge"})
    EXPECT_NE(std::ranges::find(notes, note), notes.end()) << note;
}

TEST(Merge, BurstsStayBelowTheirJob) {
  const ToolTest a(job_line(1, {{2, "0"}, {11, "1"}}) + job_line(1, {{2, "0"}, {11, "2"}}) +
                   job_line(1, {{2, "-1"}, {11, "3"}}));
  const ToolTest b(job_line(1, {{2, "0"}}));
  merge(a, b);
  EXPECT_EQ(a.jobs(), (std::vector<std::int64_t>{1, 1, 1, 2}));
}

TEST(Merge, ASourceOutOfOrderIsAnErrorThatSaysWhatToDo) {
  const ToolTest a(job_line(2) + job_line(1)), b(kB);
  const std::string message = message_of<InputError>([&] { merge(a, b); });
  EXPECT_NE(message.find("in.swf:2: field 2 (submit time): expected 20 or later"), std::string::npos) << message;
  EXPECT_NE(message.find("replay trace clean"), std::string::npos) << message;
}

TEST(Merge, ANumberThatDoesNotFitIsAnError) {
  const ToolTest a(job_line(1, {{12, "2000000000"}})), b(kB);
  EXPECT_NE(message_of<InputError>([&] { merge(a, b); }).find("field 12 (user): expected at most 1073741823"),
            std::string::npos);
}

}  // namespace
}  // namespace replay
