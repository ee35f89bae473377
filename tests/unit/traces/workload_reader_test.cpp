// Tests of making jobs from records, beyond cleaning: CPU use, closed loop, programs, streaming.
#include "traces/workload_reader.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/number_set.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::load;
using test::memory_source;
using test::message_of;

double cpu_use(std::string_view header, std::initializer_list<std::pair<int, std::string_view>> fields = {},
               const CleaningRules& rules = {}, const char* file = "log.swf") {
  const std::string text = std::string(header) + job_line(1, fields);
  return read_workload(memory_source(text, file), rules).workload.jobs.front().truth.behaviour.cpu_use;
}

TEST(CpuUse, IsCpuTimeOverRunTimeWhereTheLogHasBoth) {
  EXPECT_DOUBLE_EQ(cpu_use("", {{6, "25"}}), 0.25);
  EXPECT_DOUBLE_EQ(cpu_use("", {{4, "400"}, {6, "100"}}), 0.25) << "of the run time before it is cut";
  EXPECT_DOUBLE_EQ(cpu_use("", {{6, "150"}}), 1.0) << "clamped";
}

TEST(CpuUse, FallsBackToTheMeanOfTheLog) {
  EXPECT_DOUBLE_EQ(cpu_use(""), 0.6);
  EXPECT_DOUBLE_EQ(cpu_use("; Computer: CTC IBM SP2 (batch partition), Cornell Theory Center\n"), 0.57);
  EXPECT_DOUBLE_EQ(cpu_use("; Computer: IBM SP\n; Installation: SDSC Blue Horizon\n"), 0.23);
  EXPECT_DOUBLE_EQ(cpu_use("; Computer: IBM SP2\n; Installation: SDSC\n"), 0.66);
  EXPECT_DOUBLE_EQ(cpu_use("; Computer: IBM SP2\n; Installation: Swedish Royal Institute of Technology (KTH)\n"), 0.6);
  EXPECT_DOUBLE_EQ(cpu_use("", {}, {}, "/logs/SDSC-BLUE-2000-4.2-cln.swf"), 0.23);
  EXPECT_DOUBLE_EQ(cpu_use("", {}, {}, "/SDSC-SP2/other.swf"), 0.6) << "the directory does not count";
}

TEST(CpuUse, OptionReplacesTheFallbackOnly) {
  EXPECT_DOUBLE_EQ(cpu_use("", {}, {.cpu_use = 0.4}), 0.4);
  EXPECT_DOUBLE_EQ(cpu_use("", {{6, "25"}}, {.cpu_use = 0.4}), 0.25);
}

TEST(CpuUse, SerialJobsComputeAllTheTime) { EXPECT_DOUBLE_EQ(cpu_use("", {{5, "1"}}, {.cpu_use = 0.4}), 1.0); }

TEST(CpuUse, IsDeclaredTruthfullyAndReported) {
  const auto loaded = load(job_line(1, {{6, "25"}}) + job_line(2) + job_line(3, {{6, "500"}}));
  for (const TracedJob& job : loaded.workload.jobs) EXPECT_EQ(job.job.declared, job.truth.behaviour);
  EXPECT_EQ(loaded.report.count("cpu-use-logged"), 2U);
  EXPECT_EQ(loaded.report.count("cpu-use-clamped"), 1U);
  EXPECT_EQ(loaded.report.count("cpu-use-fallback"), 1U);
}

TEST(ClosedLoop, IsIgnoredAndReportedUnlessAskedFor) {
  const auto loaded = load(job_line(1) + job_line(2, {{17, "1"}, {18, "60"}}));
  EXPECT_FALSE(loaded.workload.jobs[1].follows.has_value());
  ASSERT_NE(loaded.report.find("preceding-job"), nullptr);
  EXPECT_EQ(loaded.report.find("preceding-job")->action, "ignored");
}

TEST(ClosedLoop, AJobFollowsItsPredecessorAfterTheThinkTime) {
  const auto loaded =
      load(job_line(1) + job_line(2, {{17, "1"}, {18, "60.5"}}) + job_line(3, {{17, "2"}}), {.closed_loop = true});
  EXPECT_EQ(loaded.workload.jobs[1].follows, JobId{1});
  EXPECT_EQ(loaded.workload.jobs[1].think_time, 60'500ms);
  EXPECT_EQ(loaded.workload.jobs[2].follows, JobId{2});
  EXPECT_EQ(loaded.workload.jobs[2].think_time, 0s) << "unknown";
  EXPECT_EQ(loaded.report.count("preceding-job"), 2U);
}

TEST(ClosedLoop, NobodyFollowsAJobThatIsNotThereOrStandsBelow) {
  const auto loaded = load(job_line(1, {{17, "2"}}) + job_line(2, {{17, "1"}}) + job_line(3, {{17, "3"}}) +
                               job_line(4, {{4, "-1"}}) + job_line(5, {{17, "4"}}),
                           {.closed_loop = true});
  EXPECT_FALSE(loaded.workload.jobs[0].follows.has_value()) << "else jobs 1 and 2 would wait for each other";
  EXPECT_EQ(loaded.workload.jobs[1].follows, JobId{1});
  EXPECT_FALSE(loaded.workload.jobs[2].follows.has_value()) << "itself";
  EXPECT_FALSE(loaded.workload.jobs[3].follows.has_value()) << "a job that was skipped";
  ASSERT_NE(loaded.report.find("preceding-missing"), nullptr);
  EXPECT_EQ(loaded.report.find("preceding-missing")->lines, (std::vector<std::size_t>{1, 3, 5}));
}

LoadedWorkload load_with_logged(std::string_view text, const CleaningRules& rules = {}) {
  return read_workload(TraceReader(memory_source(text, "log.swf"), {}), rules, true);
}

TEST(LoggedWorkload, HasEachJobAsItRanWhateverTheRulesMakeOfIt) {
  const CleaningRules rules{.size = SizeFrom::kRequested, .zero_runtime = ZeroRuntime::kClamp, .closed_loop = true};
  const LoadedWorkload loaded = load_with_logged(
      job_line(1, {{3, "5"}, {4, "300"}, {5, "8"}, {8, "4"}}) + job_line(2, {{4, "0"}, {17, "1"}, {18, "60"}}), rules);
  const TracedJob asked = loaded.workload.jobs[0], ran = loaded.logged.jobs[0], last = loaded.logged.jobs[1];
  EXPECT_EQ(asked.job.processes, 4);
  EXPECT_EQ(asked.truth.runtime, 200s);
  EXPECT_EQ(asked.job.logged_start, kNever) << "no policy but logged may know it";
  EXPECT_EQ(ran.job.processes, 8);
  EXPECT_EQ(ran.truth.runtime, 300s);
  EXPECT_EQ(ran.job.estimate, 200s);
  EXPECT_FALSE(ran.truth.cut_at_request);
  EXPECT_EQ(ran.job.submitted, Instant{10s});
  EXPECT_EQ(ran.job.logged_start, Instant{15s});
  EXPECT_EQ(loaded.workload.jobs[1].follows, JobId{1});
  EXPECT_EQ(last.follows, std::nullopt);
  EXPECT_EQ(last.truth.runtime, 0s);
}

TEST(LoggedWorkload, HasACancelledJobLeaveAfterItsWait) {
  const std::string cancelled = job_line(1, {{3, "30"}, {4, "-1"}, {5, "-1"}, {11, "5"}});
  for (const Cancelled rule : {Cancelled::kHonour, Cancelled::kRun}) {
    const TracedJob job = load_with_logged(cancelled, {.cancelled = rule}).logged.jobs[0];
    EXPECT_EQ(job.cancelled_after, 30s);
    EXPECT_EQ(job.job.logged_start, kNever);
  }
  EXPECT_TRUE(load_with_logged(cancelled).logged.jobs.empty()) << "it is skipped";
}

TEST(LoggedWorkload, LeavesOutWhatRanAndHasNoWait) {
  const LoadedWorkload loaded = load_with_logged(job_line(1, {{3, "-1"}}) + job_line(2, {{3, "-3"}}));
  EXPECT_EQ(loaded.workload.jobs.size(), 2u);
  EXPECT_EQ(loaded.without_wait, 1u);
  ASSERT_EQ(loaded.logged.jobs.size(), 1u);
  EXPECT_EQ(loaded.logged.jobs.id(0), JobId{2});
  EXPECT_EQ(loaded.logged.jobs.submitted(0), Instant{17s}) << "clocks differ: at its start";
  EXPECT_TRUE(read_workload(memory_source(job_line(1), "log.swf")).logged.jobs.empty()) << "not asked for";
}

TEST(WorkloadReader, KeepsTheZeroOfTheTrace) {
  EXPECT_EQ(load(job_line(1, {{2, "31656837"}})).workload.jobs[0].job.submitted, Instant{31656837s});
}

TEST(WorkloadReader, HandsOutTheProgramTable) {
  EXPECT_EQ(load("; Program: 9 cg --class W\n" + job_line(1)).programs.at(9), "cg --class W");
  EXPECT_THROW(load("; Program: x\n" + job_line(1)), InputError);
}

TEST(WorkloadReader, GivesOneJobAtATimeInTheOrderOfTheFile) {
  const std::string text = job_line(1, {{2, "50"}}) + job_line(2, {{4, "-1"}}) + job_line(3, {{2, "40"}});
  WorkloadReader reader(memory_source(text), {});
  TracedJob job;
  ASSERT_TRUE(reader.next(job));
  EXPECT_TRUE(reader.is_sorted());
  ASSERT_TRUE(reader.next(job));
  EXPECT_EQ(job.job.id, JobId{3});
  EXPECT_FALSE(reader.is_sorted());
  EXPECT_FALSE(reader.next(job));
  EXPECT_EQ(reader.report().kept, 2U);
}

TEST(WorkloadReader, ABoastfulMaxRecordsTakesNoMemory) {
  EXPECT_EQ(load("; MaxRecords: 9000000000000000000\n" + job_line(1)).workload.jobs.size(), 1U);
  EXPECT_EQ(load("; MaxRecords: -5\n" + job_line(1)).workload.jobs.size(), 1U);
}

TEST(NumberSet, AgreesWithASetInWhateverOrderNumbersCome) {
  std::mt19937 random(42);
  for (const unsigned range : {10U, 100U, 100'000U}) {
    NumberSet numbers;
    std::set<std::int64_t> expected;
    for (int i = 0; i < 2000; ++i) {
      const auto number = static_cast<std::int64_t>(random() % range);
      EXPECT_EQ(numbers.contains(number), expected.contains(number));
      EXPECT_EQ(numbers.insert(number), expected.insert(number).second) << number;
      EXPECT_TRUE(numbers.contains(number));
    }
  }
}

}  // namespace
}  // namespace replay
