#include "traces/tools/scale.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/tools/trace_text.hpp"
#include "traces/workload_reader.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::ToolTest;

ScaleResult scale(const ToolTest& tool, const ScaleOptions& options) {
  TraceWriter writer(tool.output(), {.force = true});
  const ScaleResult result = scale_trace(tool.trace(), writer, options, "replay trace scale ...");
  writer.close();
  return result;
}

TEST(ScaledSize, IsTheNearestAndAtLeastOne) {
  EXPECT_EQ(scaled_size(10, 100, 50, false), 5);
  EXPECT_EQ(scaled_size(5, 100, 50, false), 3) << "2.5 rounds up";
  EXPECT_EQ(scaled_size(1, 100, 10, false), 1);
  EXPECT_EQ(scaled_size(100, 100, 128, false), 128);
  EXPECT_EQ(scaled_size(104, 100, 128, false), 128) << "wider than its machine: all of the new one";
  EXPECT_EQ(scaled_size(-1, 100, 50, false), -1);
  EXPECT_EQ(scaled_size(0, 100, 50, false), 0);
  EXPECT_EQ(scaled_size(2'000'000'000, 2'147'483'647, 2'147'483'646, false), 1'999'999'999);
}

TEST(ScaledSize, PowersOfTwoStayPowersOfTwoOnRequest) {
  EXPECT_EQ(scaled_size(16, 100, 128, false), 20);
  EXPECT_EQ(scaled_size(16, 100, 128, true), 16) << "20.48 is nearer to 16";
  EXPECT_EQ(scaled_size(64, 100, 150, true), 128) << "96 lies between: half up";
  EXPECT_EQ(scaled_size(64, 64, 100, true), 64) << "128 would not fit";
  EXPECT_EQ(scaled_size(12, 100, 128, true), 15) << "12 is none";
  EXPECT_EQ(scaled_size(1, 100, 30, true), 1);
}

TEST(Scale, ArrivalsTakeThinkTimesAlongAndForgetTheWait) {
  const ToolTest tool(job_line(1) + job_line(2, {{3, "7"}, {17, "1"}, {18, "10"}}));
  scale(tool, {.arrivals = 0.5});
  const SwfRecord record = tool.entries().at(1).record;
  EXPECT_EQ(record.submit, Duration{10s});
  EXPECT_EQ(record.think_time, Duration{5s});
  EXPECT_EQ(record.run, Duration{100s});
  EXPECT_EQ(record.wait, kUnknownTime);
}

TEST(Scale, RuntimesTakeRequestAndCpuTimeAlong) {
  const ToolTest tool("; MaxRuntime: 1000\n; EndTime: then\n" + job_line(1, {{6, "60.5"}}));
  scale(tool, {.runtimes = 1.5});
  const SwfRecord record = tool.entries().at(0).record;
  EXPECT_EQ(record.run, Duration{150s});
  EXPECT_EQ(record.requested_time, Duration{300s});
  EXPECT_EQ(record.average_cpu, Duration{90'750'000}) << "CPU utilisation stays 0.605";
  EXPECT_EQ(tool.header().number("MaxRuntime"), 1500);
  EXPECT_FALSE(tool.header().find("EndTime"));
}

TEST(Scale, TheLoadHasWideJobsAsTheyAreSimulated) {
  const ToolTest tool("; MaxProcs: 100\n" + job_line(1, {{2, "0"}, {5, "10"}}) + job_line(2, {{2, "500"}, {5, "80"}}) +
                      job_line(3, {{2, "1000"}, {5, "10"}}));
  EXPECT_DOUBLE_EQ(scale(tool, {.machine_size = 20, .load = 0.5}).load_before.value(), 0.1) << "left out";
  EXPECT_DOUBLE_EQ(scale(tool, {.machine_size = 20, .load = 0.5, .oversize = Oversize::kClamp}).load_before.value(),
                   0.2)
      << "as wide as the machine";
}

// Whole seconds are rounded and decimals are not; the order stays, and a time within its request stays within it.
TEST(Scale, OrderStaysWhereWholeAndDecimalTimesMeet) {
  const ToolTest tool(job_line(1, {{2, "11"}, {4, "100.5"}, {9, "101"}}) + job_line(2, {{2, "11.5"}}) + "; the end\n");
  scale(tool, {.arrivals = 0.5, .runtimes = 0.1});
  const auto entries = tool.entries();
  EXPECT_EQ(entries.at(0).record.submit, Duration{6s});
  EXPECT_EQ(entries.at(1).record.submit, Duration{6s}) << "5.75 would be before the first";
  EXPECT_EQ(entries.at(0).record.run, Duration{10'050ms});
  EXPECT_EQ(entries.at(0).record.requested_time, Duration{10'050ms});
  EXPECT_NE(test::text_of(tool.output()).find("; the end\n"), std::string::npos) << "comments behind the last record";
}

// From 100 to 150 processors 8 becomes 16 as a power of two, and 9 becomes 14: the sizes still ascend, and include the
// job's own.
TEST(Scale, WhatAJobDeclaresOfItsSizesCanStillBeReadWithPowersOfTwo) {
  const ToolTest tool("; MaxProcs: 100\n" + job_line(1, {{5, "8"}, {8, "8"}}),
                      "job,least_processes,most_processes,sizes\n1,8,9,8|9\n");
  scale(tool, {.sizes = 150, .powers_of_two = true});
  const TraceEntry entry = tool.entries().at(0);
  EXPECT_EQ(entry.record.allocated, 16);
  EXPECT_EQ(entry.traits.least, 12);
  EXPECT_EQ(entry.traits.most, 16);
  EXPECT_EQ(entry.traits.sizes, (std::vector<ProcessCount>{14, 16}));
}

TEST(Scale, WholeSecondsStayWholeUnlessExact) {
  const ToolTest tool(job_line(1, {{2, "11"}, {4, "1"}, {9, "0"}}) + job_line(2, {{4, "0.5"}, {9, "-1"}}));
  scale(tool, {.arrivals = 0.75, .runtimes = 0.3});
  EXPECT_EQ(tool.entries().at(0).record.submit, Duration{8s});
  EXPECT_EQ(tool.entries().at(0).record.run, Duration{1s}) << "what ran still runs";
  EXPECT_EQ(tool.entries().at(0).record.requested_time, Duration{0});
  EXPECT_EQ(tool.entries().at(1).record.run, Duration{150ms}) << "it had decimals before";
  EXPECT_EQ(tool.entries().at(1).record.requested_time, kUnknownTime);
  scale(tool, {.arrivals = 0.75, .runtimes = 0.3, .exact = true});
  EXPECT_EQ(tool.entries().at(0).record.submit, Duration{8250ms});
  EXPECT_EQ(tool.entries().at(0).record.run, Duration{300ms});
}

TEST(Scale, SizesTakeLimitsAndCurvesAlong) {
  const ToolTest tool("; MaxNodes: 8\n; MaxProcs: 64\n" + job_line(1, {{5, "16"}, {8, "24"}}) + job_line(2),
                      "job,least_processes,most_processes,sizes,speedup\n1,3,32,3|4|16,downey:a=10:sigma=0.5\n"
                      "2,,,,three-point:n=4\n");
  const ScaleResult result = scale(tool, {.sizes = 16});
  EXPECT_EQ(result.sizes_changed, 2U);
  const std::vector<TraceEntry> entries = tool.entries();
  EXPECT_EQ(entries[0].record.allocated, 4);
  EXPECT_EQ(entries[0].record.requested, 6);
  EXPECT_EQ(entries[0].traits.least, 1);
  EXPECT_EQ(entries[0].traits.most, 8);
  EXPECT_EQ(entries[0].traits.sizes, (std::vector<ProcessCount>{1, 4})) << "3 and 4 both become 1";
  EXPECT_EQ(entries[0].traits.speedup, SpeedupCurve(DowneySpeedup{2.5, 0.5}));
  EXPECT_EQ(entries[1].traits.speedup, SpeedupCurve(ThreePointSpeedup{.optimum = 1}));
  EXPECT_EQ(tool.header().max_procs(), 16);
  EXPECT_EQ(tool.header().max_nodes(), 2);
}

// Work 4 x 100 x 3 = 1200 over 20 s on 8 processors: load 7.5.
const std::string kThree = "; MaxProcs: 8\n" + job_line(1) + job_line(2) + job_line(3);

TEST(Scale, ALoadIsReachedByArrivalsOrRuntimes) {
  const ToolTest tool(kThree);
  const ScaleResult arrivals = scale(tool, {.load = 0.75, .by = LoadBy::kArrivals});
  EXPECT_DOUBLE_EQ(*arrivals.load_before, 7.5);
  EXPECT_DOUBLE_EQ(arrivals.arrivals, 10);
  EXPECT_DOUBLE_EQ(*arrivals.load_after, 0.75);
  EXPECT_EQ(tool.entries().at(2).record.submit, Duration{300s});
  const ScaleResult runtimes = scale(tool, {.load = 0.75, .by = LoadBy::kRuntimes});
  EXPECT_DOUBLE_EQ(runtimes.runtimes, 0.1);
  EXPECT_EQ(tool.entries().at(2).record.run, Duration{10s});
  EXPECT_DOUBLE_EQ(*runtimes.load_after, 0.75);
}

TEST(Scale, TheLoadComesAfterSizesAndFactors) {
  const ToolTest tool(kThree);
  const ScaleResult result = scale(tool, {.runtimes = 2, .sizes = 4, .load = 1.5, .by = LoadBy::kArrivals});
  EXPECT_DOUBLE_EQ(*result.load_before, 15) << "2 of 4 processors, 200 s";
  EXPECT_DOUBLE_EQ(*result.load_after, 1.5);
}

TEST(Scale, WhatMakesNoSenseIsRefused) {
  const ToolTest tool(kThree);
  EXPECT_THROW(scale(tool, {.arrivals = 0}), UsageError);
  EXPECT_THROW(scale(tool, {.runtimes = -1}), UsageError);
  EXPECT_THROW(scale(tool, {.load = 0.0}), UsageError);
  const ToolTest one("; MaxProcs: 8\n" + job_line(1));
  EXPECT_THROW(scale(one, {.load = 0.5}), InputError) << "no time passes, so there is no load";
  const ToolTest unknown(job_line(1));
  EXPECT_THROW(scale(unknown, {.sizes = 4}), InputError) << "proportion to what?";
  EXPECT_EQ(scale(unknown, {.sizes = 4, .machine_size = 8}).machine_before, 8);
  EXPECT_EQ(unknown.entries().at(0).record.allocated, 2);
}

// The waits of a log show 8 processors in use; without them it is 4.
TEST(Scale, TheMachineOfTheLoadIsThatOfTheScaledTrace) {
  const std::string jobs = job_line(1, {{2, "0"}, {3, "0"}, {5, "4"}}) + job_line(2, {{2, "10"}, {3, "0"}, {5, "4"}}) +
                           job_line(3, {{2, "50"}, {3, "60"}, {5, "4"}});
  const auto load_of_output = [](const ToolTest& tool, CoreCount machine) {
    WorkloadReader reader(tool.output(), {});
    double work = 0;
    Duration last{};
    for (TracedJob job; reader.next(job);) {
      work += seconds(job.truth.runtime) * job.job.processes;
      last = job.job.submitted.time_since_epoch();
    }
    EXPECT_EQ(reader.machine_size(), machine);
    EXPECT_EQ(reader.machine_source(), "MaxProcs");
    return work / (seconds(last) * machine);
  };
  for (const LoadBy by : {LoadBy::kArrivals, LoadBy::kRuntimes}) {
    const ToolTest tool(jobs);
    EXPECT_NEAR(scale(tool, {.load = 1.5, .by = by}).load_after.value(), 1.5, 0.01);
    EXPECT_NEAR(load_of_output(tool, 8), 1.5, 0.01);
    EXPECT_NEAR(scale(tool, {.arrivals = 3, .load = 1.5, .by = by}).load_after.value(), 1.5, 0.01);
    EXPECT_NEAR(load_of_output(tool, 8), 1.5, 0.01) << "after a factor too";
    scale(tool, {.machine_size = 16, .load = 0.5, .by = by});
    EXPECT_NEAR(load_of_output(tool, 16), 0.5, 0.01);
  }
  const ToolTest tool(jobs);
  scale(tool, {.arrivals = 2});
  EXPECT_EQ(tool.header().max_procs(), 8) << "without a load";
  const ToolTest other("; MaxProcs: 4\n" + jobs);
  scale(other, {.machine_size = 32, .load = 0.5});
  EXPECT_EQ(other.header().max_procs(), 32);
  const ToolTest nodes("; MaxNodes: 8\n" + jobs);
  scale(nodes, {.arrivals = 2});
  EXPECT_FALSE(nodes.header().max_procs()) << "MaxNodes says it";
}

TEST(Scale, ATimeThatBecomesTooLongIsNamedWithItsPlaceAndTheWayOut) {
  const ToolTest tool(job_line(1, {{2, "1356996147"}}) + job_line(2, {{2, "1356996157"}}));
  const std::string said = test::message_of<InputError>([&] { scale(tool, {.arrivals = 10}); });
  for (const char* words : {"in.swf:1: field 2", "1356996147 s times 10", "`replay trace cut --rebase`"})
    EXPECT_NE(said.find(words), std::string::npos) << said;
}

}  // namespace
}  // namespace replay
