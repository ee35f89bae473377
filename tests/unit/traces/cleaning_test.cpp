// Tests of each cleaning rule: its effect on jobs, and its line in the report.
#include "traces/cleaning.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::load;
using test::message_of;

const std::string kHeader = "; MaxProcs: 8\n";

std::vector<std::int64_t> ids(const LoadedWorkload& loaded) {
  std::vector<std::int64_t> result;
  for (const TracedJob& job : loaded.workload.jobs) result.push_back(static_cast<std::int64_t>(job.job.id));
  return result;
}

// "action count lines" of a rule, as one text to compare.
std::string finding(const LoadedWorkload& loaded, std::string_view rule) {
  const Finding* found = loaded.report.find(rule);
  if (found == nullptr) return "none";
  std::string text = fmt::format("{} {} at", found->action, found->count);
  for (const std::size_t line : found->lines) text += fmt::format(" {}", line);
  return text;
}

CleaningRules with(std::string_view name, std::string_view value) {
  CleaningRules rules;
  set_rule(rules, name, value);
  return rules;
}

TEST(Cleaning, AnOrdinaryRecordBecomesAJobUnchanged) {
  const auto loaded = load(kHeader + job_line(3));
  ASSERT_EQ(loaded.workload.jobs.size(), 1U);
  const TracedJob& job = loaded.workload.jobs[0];
  EXPECT_EQ(job.job.id, JobId{3});
  EXPECT_EQ(job.job.submitted, Instant{30s});
  EXPECT_EQ(job.job.processes, 4);
  EXPECT_EQ(job.job.estimate, 200s);
  EXPECT_EQ(job.job.user, 7);
  EXPECT_EQ(job.job.group, 8);
  EXPECT_EQ(job.job.queue, 2);
  EXPECT_EQ(job.truth.runtime, 100s);
  EXPECT_EQ(job.truth.executable, 9);
  EXPECT_FALSE(job.truth.cut_at_request);
  EXPECT_FALSE(job.follows.has_value());
  EXPECT_EQ(loaded.machine_size, 8);
  EXPECT_EQ(loaded.report.read, 1U);
  EXPECT_EQ(loaded.report.kept, 1U);
  EXPECT_EQ(loaded.report.skipped, 0U);
}

TEST(Cleaning, SizeIsTheAllocationElseTheRequest) {
  const std::string log = kHeader + job_line(1, {{5, "2"}, {8, "6"}}) + job_line(2, {{5, "-1"}, {8, "6"}}) +
                          job_line(3, {{5, "2"}, {8, "0"}});
  const auto allocated = load(log);
  EXPECT_EQ(allocated.workload.jobs[0].job.processes, 2);
  EXPECT_EQ(allocated.workload.jobs[1].job.processes, 6);
  EXPECT_EQ(allocated.workload.jobs[2].job.processes, 2);
  EXPECT_EQ(finding(allocated, "size-other-field"), "replaced 1 at 3");
  EXPECT_EQ(finding(allocated, "size-fields-differ"), "noted 1 at 2");
  const auto requested = load(log, with("size", "requested"));
  EXPECT_EQ(requested.workload.jobs[0].job.processes, 6);
  EXPECT_EQ(requested.workload.jobs[1].job.processes, 6);
  EXPECT_EQ(requested.workload.jobs[2].job.processes, 2);
  EXPECT_EQ(finding(requested, "size-other-field"), "replaced 1 at 4");
}

TEST(Cleaning, SkipsARecordWithoutAnySize) {
  const auto loaded = load(kHeader + job_line(1, {{5, "0"}, {8, "-1"}}) + job_line(2));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(finding(loaded, "size-missing"), "skipped 1 at 2");
}

TEST(Cleaning, SkipsARecordWithoutRunTime) {
  const auto loaded = load(kHeader + job_line(1, {{4, "-1"}}) + job_line(2));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(finding(loaded, "runtime-missing"), "skipped 1 at 2");
}

TEST(Cleaning, RunTimeOfZeroIsKeptOrBecomesASecond) {
  const std::string log = kHeader + job_line(1, {{4, "0"}});
  const auto kept = load(log);
  EXPECT_EQ(kept.workload.jobs[0].truth.runtime, 0s);
  EXPECT_EQ(finding(kept, "runtime-zero"), "kept 1 at 2");
  const auto clamped = load(log, with("zero-runtime", "clamp"));
  EXPECT_EQ(clamped.workload.jobs[0].truth.runtime, 1s);
  EXPECT_EQ(finding(clamped, "runtime-zero"), "clamped 1 at 2");
}

TEST(Cleaning, RunTimeStandsInForAMissingRequest) {
  const auto loaded = load(kHeader + job_line(1, {{9, "-1"}}) + job_line(2, {{9, "0"}}) + job_line(3));
  EXPECT_EQ(loaded.workload.jobs[0].job.estimate, 100s);
  EXPECT_EQ(loaded.workload.jobs[1].job.estimate, 100s);
  EXPECT_EQ(loaded.workload.jobs[2].job.estimate, 200s);
  EXPECT_EQ(finding(loaded, "request-missing"), "replaced 2 at 2 3");
}

TEST(Cleaning, AnEstimateIsNeverZero) {
  const auto loaded = load(kHeader + job_line(1, {{4, "0"}, {9, "-1"}}));
  EXPECT_EQ(loaded.workload.jobs[0].job.estimate, 1s);
  EXPECT_EQ(loaded.workload.jobs[0].truth.runtime, 0s);
  EXPECT_EQ(finding(loaded, "estimate-zero"), "replaced 1 at 2");
}

TEST(Cleaning, AJobBeyondItsRequestIsCutAndMarkedOrRunsOn) {
  const std::string log = kHeader + job_line(1, {{4, "300"}}) + job_line(2, {{4, "200"}});
  const auto cut = load(log);
  EXPECT_EQ(cut.workload.jobs[0].truth.runtime, 200s);
  EXPECT_TRUE(cut.workload.jobs[0].truth.cut_at_request);
  EXPECT_FALSE(cut.workload.jobs[1].truth.cut_at_request);
  EXPECT_EQ(finding(cut, "over-request"), "cut 1 at 2");
  const auto kept = load(log, with("over-request", "keep"));
  EXPECT_EQ(kept.workload.jobs[0].truth.runtime, 300s);
  EXPECT_EQ(kept.workload.jobs[0].job.estimate, 200s);
  EXPECT_FALSE(kept.workload.jobs[0].truth.cut_at_request);
  EXPECT_EQ(finding(kept, "over-request"), "kept 1 at 2");
}

TEST(Cleaning, AJobWiderThanTheMachineIsSkippedClampedOrAnError) {
  const std::string log = kHeader + job_line(1, {{5, "9"}}) + job_line(2, {{5, "8"}});
  const auto skipped = load(log);
  EXPECT_EQ(ids(skipped), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(finding(skipped, "oversize"), "skipped 1 at 2");
  const auto clamped = load(log, with("oversize", "clamp"));
  EXPECT_EQ(clamped.workload.jobs[0].job.processes, 8);
  EXPECT_EQ(finding(clamped, "oversize"), "clamped 1 at 2");
  EXPECT_EQ(message_of<InputError>([&] { load(log, with("oversize", "error")); }),
            "log.swf:2: job 1: expected at most the machine's 8 processors, found 9: try --oversize skip or "
            "--oversize clamp");
}

TEST(Cleaning, TheMachineIsTheOptionElseTheHeaderElseTheWidestJob) {
  const std::string jobs = job_line(1, {{3, "-1"}, {5, "5"}}) + job_line(2, {{5, "3"}});
  EXPECT_EQ(load("; MaxProcs: 8\n; MaxNodes: 2\n" + jobs).machine_size, 8);
  EXPECT_EQ(load("; MaxNodes: 6\n" + jobs).machine_size, 6);
  const auto bare = load(jobs);
  EXPECT_EQ(bare.machine_size, 5);
  EXPECT_EQ(bare.machine_source, "the widest job");
  EXPECT_EQ(finding(bare, "machine-size"), "noted 1 at");
  const auto narrowed = load(kHeader + jobs, with("machine-size", "4"));
  EXPECT_EQ(narrowed.machine_size, 4);
  EXPECT_EQ(ids(narrowed), (std::vector<std::int64_t>{2}));
}

// Jobs 1 and 2 run side by side from 25 s to 110 s, and job 3 begins at the instant at which they end.
TEST(Cleaning, AMachineOfUnknownSizeHasAtLeastWhatTheLogShowsInUse) {
  const std::string jobs = job_line(1, {{5, "5"}}) + job_line(2, {{3, "5"}, {4, "85"}, {5, "-1"}, {8, "3"}}) +
                           job_line(3, {{3, "80"}, {5, "6"}}) + job_line(4, {{3, "-1"}, {5, "7"}});
  const auto bare = load(jobs);
  EXPECT_EQ(bare.machine_size, 8) << "of jobs 1 and 2";
  EXPECT_EQ(bare.machine_source, "the most in use at one time");
  EXPECT_TRUE(bare.is_machine_seen);
  ASSERT_NE(bare.report.find("machine-size"), nullptr);
  EXPECT_EQ(bare.report.find("machine-size")->text,
            "no MaxProcs and no MaxNodes in the header: 8 processors stand in, the most in use at one time");
  const auto stated = load("; MaxProcs: 7\n" + jobs);
  EXPECT_EQ(stated.machine_size, 7);
  EXPECT_EQ(stated.machine_source, "MaxProcs");
  EXPECT_FALSE(stated.is_machine_seen);
  EXPECT_EQ(load(jobs, with("machine-size", "20")).machine_source, "--machine-size");
}

TEST(Cleaning, FieldsBehindTheEighteenAreReportedOnce) {
  std::string line = job_line(1);
  line.pop_back();
  const auto loaded = load(kHeader + line + " 15230\n" + job_line(2));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(finding(loaded, "extra-fields"), "noted 1 at 2");
}

TEST(Cleaning, SkipsARecordWithoutSubmitTimeOrNumber) {
  const auto loaded = load(kHeader + job_line(1) + job_line(2, {{2, "-1"}}) + job_line(3, {{1, "-1"}}) + job_line(4));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(finding(loaded, "submit-missing"), "skipped 1 at 3");
  EXPECT_EQ(finding(loaded, "number-missing"), "skipped 1 at 4");
  EXPECT_EQ(finding(loaded, "out-of-order"), "none");
}

TEST(Cleaning, ALogOutOfOrderIsSortedBySubmitTimeThenNumber) {
  const std::string log = kHeader + job_line(5, {{2, "50"}}) + job_line(4, {{2, "20"}}) + job_line(3, {{2, "50"}}) +
                          job_line(2, {{2, "60"}});
  const auto sorted = load(log);
  EXPECT_EQ(ids(sorted), (std::vector<std::int64_t>{4, 3, 5, 2}));
  EXPECT_EQ(finding(sorted, "out-of-order"), "sorted 1 at 3");
  const auto skipped = load(log, with("out-of-order", "skip"));
  EXPECT_EQ(ids(skipped), (std::vector<std::int64_t>{5, 3, 2}));
  EXPECT_EQ(finding(skipped, "out-of-order"), "skipped 1 at 3");
}

TEST(Cleaning, ALogInOrderKeepsTheOrderOfTheFileAmongEqualSubmitTimes) {
  EXPECT_EQ(ids(load(kHeader + job_line(9, {{2, "5"}}) + job_line(1, {{2, "5"}}))), (std::vector<std::int64_t>{9, 1}));
}

// A job that was swapped out twice: its summary, then its bursts. Only the first burst has a submit time.
TEST(Cleaning, PartialExecutionsAreSkippedForTheirSummaryLine) {
  const auto loaded =
      load(kHeader + job_line(1, {{4, "90"}, {11, "1"}}) + job_line(1, {{4, "30"}, {11, "2"}}) +
           job_line(1, {{2, "-1"}, {4, "30"}, {11, "2"}}) + job_line(1, {{2, "-1"}, {4, "30"}, {11, "3"}}) +
           job_line(2, {{4, "20"}, {11, "0"}}) + job_line(2, {{4, "20"}, {11, "4"}}) + job_line(3));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(loaded.workload.jobs[0].truth.runtime, 90s);
  EXPECT_EQ(finding(loaded, "partial-execution"), "skipped 4 at 3 4 5 7");
  EXPECT_EQ(finding(loaded, "duplicate-number"), "none");
}

TEST(Cleaning, CancelledJobsThatNeverRanAreSkippedOthersAreJobs) {
  const auto loaded =
      load(kHeader + job_line(1, {{4, "-1"}, {11, "5"}}) + job_line(2, {{4, "0"}, {5, "-1"}, {11, "5"}}) +
           job_line(3, {{4, "60"}, {11, "5"}}) + job_line(4, {{4, "60"}, {5, "-1"}, {8, "3"}, {11, "5"}}) +
           job_line(5, {{4, "0"}, {11, "5"}}));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(finding(loaded, "cancelled-never-ran"), "skipped 2 at 2 3");
}

// Job 1 waited 30 s and was cancelled; job 2 has no known wait, job 3 no known request; job 4 ran.
TEST(Cleaning, CancelledJobsThatNeverRanCanBeCancelledAgainOrRun) {
  const std::string log = kHeader + job_line(1, {{3, "30"}, {4, "-1"}, {9, "200"}, {11, "5"}}) +
                          job_line(2, {{3, "-1"}, {4, "-1"}, {9, "200"}, {11, "5"}}) +
                          job_line(3, {{3, "30"}, {4, "-1"}, {9, "-1"}, {11, "5"}}) +
                          job_line(4, {{3, "30"}, {4, "60"}, {9, "200"}, {11, "5"}});
  CleaningRules rules;
  set_rule(rules, "cancelled", "honour");
  const auto honoured = load(log, rules);
  EXPECT_EQ(ids(honoured), (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(honoured.workload.jobs[0].cancelled_after, 30s);
  EXPECT_EQ(honoured.workload.jobs[0].job.estimate, 200s);
  EXPECT_EQ(honoured.workload.jobs[1].cancelled_after, std::nullopt);
  EXPECT_EQ(finding(honoured, "cancelled"), "honoured 1 at 2");
  EXPECT_EQ(finding(honoured, "cancelled-never-ran"), "skipped 2 at 3 4");

  set_rule(rules, "cancelled", "run");
  const auto run = load(log, rules);
  EXPECT_EQ(ids(run), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(run.workload.jobs[0].cancelled_after, std::nullopt);
  EXPECT_EQ(run.workload.jobs[0].truth.runtime, 200s);
  EXPECT_EQ(finding(run, "cancelled"), "kept 2 at 2 3");
  EXPECT_THROW(set_rule(rules, "cancelled", "yes"), UsageError);
}

TEST(Cleaning, TheFirstJobOfANumberIsKept) {
  const auto loaded = load(kHeader + job_line(2, {{2, "1"}}) + job_line(1, {{2, "2"}}) + job_line(2, {{2, "3"}}) +
                           job_line(3, {{2, "4"}, {4, "-1"}}) + job_line(3, {{2, "5"}}));
  EXPECT_EQ(ids(loaded), (std::vector<std::int64_t>{2, 1, 3}));
  EXPECT_EQ(finding(loaded, "duplicate-number"), "skipped 1 at 4");
}

TEST(Cleaning, ReportsWhatIsNotModelled) {
  const auto loaded = load(kHeader + job_line(1, {{10, "512"}, {15, "1"}, {16, "1"}}) +
                           job_line(2, {{15, "2"}, {16, "2"}}) + job_line(3, {{11, "9"}, {16, "2"}}));
  EXPECT_EQ(finding(loaded, "memory-request"), "ignored 1 at 2");
  EXPECT_EQ(finding(loaded, "partitions"), "ignored 2 at");
  EXPECT_EQ(finding(loaded, "queues"), "ignored 2 at");
  EXPECT_EQ(finding(loaded, "status-unknown"), "noted 1 at 4");
}

TEST(Cleaning, NotesAStaleMaxRecords) {
  EXPECT_EQ(finding(load("; MaxRecords: 5\n; MaxProcs: 8\n" + job_line(1)), "max-records"), "noted 1 at");
  EXPECT_EQ(finding(load("; MaxRecords: 1\n; MaxProcs: 8\n" + job_line(1)), "max-records"), "none");
}

TEST(Cleaning, TheReportCountsEveryRecordOnceAndReadsWell) {
  const auto loaded = load(kHeader + job_line(1, {{4, "-1"}}) + "broken\n" + job_line(2, {{4, "300"}}) + job_line(3));
  EXPECT_EQ(loaded.report.read, 3U);
  EXPECT_EQ(loaded.report.kept, 2U);
  EXPECT_EQ(loaded.report.skipped, 1U);
  EXPECT_EQ(loaded.report.broken, 1U);
  const auto lines = loaded.report.to_lines();
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0], "log.swf: 3 records read, 2 jobs kept, 1 skipped, 1 broken line");
  EXPECT_EQ(lines[1], "1 skipped: lines that do not begin with 18 numbers (line 3)");
  EXPECT_EQ(lines[2], "1 skipped: records without a run time (line 2)");
  EXPECT_EQ(lines[3], "1 cut: jobs that ran longer than requested, now ended at the request (line 4)");
  EXPECT_EQ(lines.back(), "log.swf:3: expected 18 fields, found 1 in 'broken'");
}

TEST(CleaningOptions, EveryValueThatIsOfferedIsTaken) {
  for (const CleaningOption& option : cleaning_options()) {
    CleaningRules rules;
    std::string values(option.values);
    if (values == "COUNT") values = "128";
    if (values == "0..1") values = "0|0.5|1";
    for (std::size_t from = 0; from <= values.size();) {
      const std::size_t to = std::min(values.find('|', from), values.size());
      EXPECT_NO_THROW(set_rule(rules, option.name, values.substr(from, to - from))) << option.name;
      from = to + 1;
    }
  }
}

TEST(CleaningOptions, AnotherValueIsAUsageErrorThatListsTheRightOnes) {
  EXPECT_EQ(message_of<UsageError>([] { with("size", "both"); }), "--size: expected allocated|requested, found 'both'");
  EXPECT_EQ(message_of<UsageError>([] { with("cpu-use", "1.5"); }), "--cpu-use: expected 0..1, found '1.5'");
  EXPECT_EQ(message_of<UsageError>([] { with("cpu-use", "nan"); }), "--cpu-use: expected 0..1, found 'nan'");
  EXPECT_EQ(message_of<UsageError>([] { with("machine-size", "0"); }), "--machine-size: expected COUNT, found '0'");
  EXPECT_NE(message_of<UsageError>([] { with("sise", "1"); }).find("no cleaning rule is called 'sise'"),
            std::string::npos);
}

}  // namespace
}  // namespace replay
