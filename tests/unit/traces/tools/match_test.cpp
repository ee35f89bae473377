// Tests of choosing the program that replaces a job: nearest run time on a log scale, at the job's size or the nearest
// measured one.
#include "traces/tools/match.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"

namespace replay {
namespace {

const std::vector<MatchCandidate> kMeasured = {{"cg --class S", 2, 1},
                                               {"cg --class W", 2, 16},
                                               {"ep --class S", 2, 100},
                                               {"cg --class W", 8, 4},
                                               {"ep --class S", 8, 25}};

std::int32_t program_of(Matcher& matcher, std::int32_t processes, double run_s) {
  TraceEntry entry;
  entry.record.job = 1, entry.record.allocated = processes, entry.record.run = from_seconds(run_s);
  matcher.apply(entry);
  return entry.record.executable;
}

TEST(Matcher, TakesTheNearestRunTimeOnALogScale) {
  Matcher matcher(kMeasured);
  EXPECT_EQ(program_of(matcher, 2, 3.9), 0);  // 3.9 times 1, but 4.1 times less than 16
  EXPECT_EQ(program_of(matcher, 2, 4.1), 1);
  EXPECT_EQ(program_of(matcher, 2, 39), 1);  // nearer to 16 than to 100 as 39/16 < 100/39
  EXPECT_EQ(program_of(matcher, 2, 41), 2);
  EXPECT_EQ(program_of(matcher, 2, 1e6), 2);
  EXPECT_EQ(program_of(matcher, 2, 0), 0);
  EXPECT_EQ(matcher.report().zero_runtimes, 1U);
}

TEST(Matcher, TakesTheNearestSizeThatWasMeasuredAndCountsThat) {
  Matcher matcher(kMeasured);
  EXPECT_EQ(program_of(matcher, 1, 16), 1);  // size 2
  EXPECT_EQ(program_of(matcher, 4, 4), 0);   // 2 and 8 are equally near: the smaller one, which has no program of 4 s
  EXPECT_EQ(program_of(matcher, 5, 4), 1);   // size 8
  EXPECT_EQ(program_of(matcher, 64, 25), 2);
  EXPECT_EQ(matcher.report().at_other_size, 4U);
}

TEST(Matcher, LeavesJobsWithoutRunTimeOrSizeUnmatched) {
  Matcher matcher(kMeasured);
  TraceEntry entry;
  entry.record.executable = 9;
  matcher.apply(entry);
  EXPECT_EQ(entry.record.executable, -1);
  entry.record.run = Duration::zero();
  matcher.apply(entry);
  EXPECT_EQ(matcher.report().without_runtime, 1U);
  EXPECT_EQ(matcher.report().without_size, 1U);
  EXPECT_EQ(matcher.report().matched, 0U);
}

TEST(Matcher, ReportsTheErrors) {
  Matcher matcher(kMeasured);
  for (const double run : {16.0, 20.0, 100.0, 400.0}) EXPECT_GE(program_of(matcher, 2, run), 0);
  const MatchReport& report = matcher.report();
  EXPECT_DOUBLE_EQ(report.mean_relative_error, (0 - 0.2 + 0 - 0.75) / 4);
  EXPECT_DOUBLE_EQ(report.mean_absolute_error, 0.95 / 4);
  EXPECT_DOUBLE_EQ(report.share_within(0.01), 0.5);
  EXPECT_DOUBLE_EQ(report.share_within(0.25), 0.75);
  EXPECT_NEAR(report.factor_at(0.75), 1.25, 0.02);
  EXPECT_NEAR(report.factor_at(1), 4, 0.05);
  EXPECT_EQ(report.worst.at(0).wanted_s, 400);
  EXPECT_EQ(report.jobs_of_program, (std::vector<std::uint64_t>{0, 2, 2}));
}

TEST(Matcher, WritesItsTableOverAnOldOne) {
  SwfHeader header;
  header.add("Program", "7 old");
  Matcher(kMeasured).set_programs(header);
  EXPECT_EQ(header.programs(),
            (std::map<std::int32_t, std::string>{{0, "cg --class S"}, {1, "cg --class W"}, {2, "ep --class S"}}));
  EXPECT_THROW(Matcher({}), InputError);
}

}  // namespace
}  // namespace replay
