// Dumps as sites have them: free text with separators and line ends, dumps that overlap, several clusters, jobs that could
// not start at once. The dumps lie in tests/data/sacct; docs/formats/sacct.md has the rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/sacct_reader.hpp"

namespace replay::sacct {
namespace {

using accounting::read_trace;
using accounting::Tally;
using accounting::Trace;
using accounting::TraceOptions;
using namespace std::chrono_literals;
using test::lines_of;
using test::memory_source;
using test::message_of;

struct Converted {
  Trace trace;
  Tally tally;
};

Converted convert_dump(const std::string& name, const TraceOptions& options = {}, const ReaderOptions& reading = {}) {
  Reader reader(open_source(fmt::format("{}/tests/data/sacct/{}.sacct", REPLAY_SOURCE_DIR, name)), reading);
  Trace trace = read_trace(reader, options);
  return {std::move(trace), reader.tally()};
}

Converted convert_text(const std::string& text, const ReaderOptions& reading = {}) {
  Reader reader(memory_source(text, "dump.sacct"), reading);
  Trace trace = read_trace(reader);
  return {std::move(trace), reader.tally()};
}

TEST(SacctFreeText, SeparatorsInAnyColumnOfItCostNoJob) {
  const auto [trace, tally] = convert_dump("pipe", {}, {.strict = true});
  EXPECT_EQ(lines_of(trace.records),
            "1 0 5 60 2 -1 -1 -1 600 -1 1 1 -1 1 -1 1 -1 -1\n"
            "2 10 0 120 4 -1 -1 -1 600 -1 1 1 -1 2 -1 1 -1 -1\n"
            "3 20 0 180 8 -1 -1 -1 600 -1 1 2 -1 3 -1 1 -1 -1\n"
            "4 30 0 240 1 -1 -1 -1 600 -1 1 2 -1 4 -1 1 -1 -1\n");
}

TEST(SacctFreeText, ASeparatorInOneColumnMovesNoOther) {
  EXPECT_EQ(lines_of(convert_dump("pipe-silent").trace.records),
            "1 0 0 60 2 -1 -1 -1 600 -1 1 1 1 1 -1 -1 -1 -1\n"
            "2 10 0 120 2 -1 -1 -1 600 -1 1 1 1 1 -1 -1 -1 -1\n");
  EXPECT_EQ(lines_of(convert_dump("pipe-numbers").trace.records),
            "1 0 0 3600 4 -1 -1 -1 -1 -1 1 -1 1 1 -1 -1 -1 -1\n"
            "2 10 0 3600 4 -1 -1 -1 -1 -1 1 -1 1 1 -1 -1 -1 -1\n")
      << "Start + Elapsed = End decides";
}

constexpr const char* kTwoTexts = "JobID|Submit|Start|End|ElapsedRaw|AllocCPUS|State|JobName|User|Account|Comment\n";

TEST(SacctFreeText, NamesOfOtherRowsDecideWhatTimesLeaveOpen) {
  const auto [trace, tally] =
      convert_text(std::string(kTwoTexts) +
                   "1|1700000000|1700000000|1700000060|60|2|COMPLETED|md|ann|phys|none\n"
                   "2|1700000000|1700000000|1700000060|60|2|COMPLETED|md|x|ann|phys|hello|there\n");
  ASSERT_EQ(trace.records.size(), 2U);
  EXPECT_EQ(trace.records[1].user, trace.records[0].user);
  EXPECT_EQ(trace.records[1].group, trace.records[0].group);
}

TEST(SacctFreeText, ARowThatCanBeReadInSeveralWaysIsLeftOutAndShown) {
  const auto [trace, tally] = convert_text(std::string(kTwoTexts) +
                                           "1|1700000000|1700000000|1700000060|60|2|COMPLETED|md|ann|phys|none\n"
                                           "2|1700000000|1700000000|1700000060|60|2|COMPLETED|a|b|c|d|e\n");
  EXPECT_EQ(trace.records.size(), 1U);
  ASSERT_EQ(tally.broken, 1U);
  EXPECT_EQ(tally.broken_messages.front(),
            "dump.sacct:3: expected 11 cells as in the header row, found 12 that can be read in several ways");
}

TEST(SacctFreeText, LineEndsInItCostNoJob) {
  const auto [trace, tally] = convert_dump("newline", {}, {.strict = true});
  EXPECT_EQ(lines_of(trace.records),
            "1 0 0 60 2 -1 -1 -1 -1 -1 1 1 -1 1 -1 -1 -1 -1\n"
            "2 10 0 120 4 -1 -1 -1 -1 -1 1 1 -1 2 -1 -1 -1 -1\n"
            "3 20 0 180 1 -1 -1 -1 -1 -1 1 2 -1 3 -1 -1 -1 -1\n");
  EXPECT_EQ(tally.steps, 1U);
}

TEST(SacctFreeText, TheRestOfATextAtTheEndOfARowIsPassedOverAndCounted) {
  const auto [trace, tally] = convert_text(
      "JobID|Submit|Start|End|AllocCPUS|State|SubmitLine\n"
      "1|1700000000|1700000000|1700000060|2|COMPLETED|sbatch --wrap=one\n"
      "two | wc -l\n"
      "2|1700000000|1700000000|1700000060|2|COMPLETED|sbatch\n");
  EXPECT_EQ(trace.records.size(), 2U);
  EXPECT_EQ(tally.continued, 1U);
  EXPECT_EQ(tally.broken, 0U);
}

TEST(SacctFreeText, ATruncatedRowTakesNoOtherWithIt) {
  const auto [trace, tally] = convert_text(
      "JobID|Submit|Start|End|AllocCPUS|State|JobName\n"
      "1|1700000000|17000\n"
      "2|1700000000|1700000000|1700000060|2|COMPLETED|md\n");
  EXPECT_EQ(trace.records.size(), 1U);
  EXPECT_EQ(tally.broken, 1U);
}

TEST(SacctOverlap, AJobInTwoDumpsCountsOnce) {
  const auto [trace, tally] = convert_dump("months", {}, {.strict = true});
  EXPECT_EQ(trace.records.size(), 3U);
  EXPECT_EQ(trace.repeated, 1U);
  EXPECT_EQ(trace.most_in_use, 4);
  const Trace cron = convert_dump("months-cron").trace;
  EXPECT_EQ(lines_of(cron.records), lines_of(trace.records)) << "a row of the running job, then its last one";
}

TEST(SacctOverlap, AlsoInTwoFiles) {
  const std::string header = "JobID|Submit|Start|End|AllocCPUS|State\n";
  const std::string both = "2|1700000010|1700000020|1700000080|2|COMPLETED\n";
  std::vector<std::unique_ptr<accounting::Reader>> readers;
  readers.push_back(
      std::make_unique<Reader>(memory_source(header + "1|1700000000|1700000000|1700000060|2|COMPLETED\n" + both)));
  readers.push_back(
      std::make_unique<Reader>(memory_source(header + both + "3|1700000090|1700000090|1700000100|2|COMPLETED\n")));
  EXPECT_EQ(lines_of(read_trace(readers).records),
            "1 0 0 60 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
            "2 10 10 60 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
            "3 90 0 10 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
}

TEST(SacctOverlap, AJobThatWaitedInTheFirstDumpIsTheOneThatRanInTheSecond) {
  const auto [trace, tally] = convert_text(
      "JobID|Submit|Start|End|AllocCPUS|State\n"
      "1|1700000000|Unknown|Unknown|0|PENDING\n"
      "7_[1-2%1]|1700000000|Unknown|Unknown|0|PENDING\n"
      "8_[1-2]|1700000000|Unknown|Unknown|0|PENDING\n"
      "1|1700000000|1700000010|1700000020|2|COMPLETED\n"
      "7_1|1700000000|1700000010|1700000020|2|COMPLETED\n"
      "7_2|1700000000|1700000010|1700000020|2|COMPLETED\n");
  EXPECT_EQ(trace.records.size(), 4U) << "8 waits still";
  EXPECT_EQ(trace.repeated, 2U);
}

TEST(SacctOverlap, ARequeuedRunIsNoRepetition) {
  const auto [trace, tally] = convert_dump("requeued");
  EXPECT_EQ(lines_of(trace.records),
            "1 0 0 3600 4 -1 -1 -1 7200 -1 0 1 -1 -1 -1 -1 -1 -1\n"
            "2 3605 595 3600 4 -1 -1 -1 7200 -1 1 1 -1 -1 -1 -1 -1 -1\n");
}

TEST(SacctClusters, AreNeverOneMachine) {
  EXPECT_NE(message_of<InputError>([] {
              (void)convert_dump("two-clusters");
            }).find("expected the jobs of one cluster, found those of alpha, beta: --cluster alpha takes one"),
            std::string::npos);
  const auto [trace, tally] = convert_dump("two-clusters", {}, {.cluster = "alpha"});
  EXPECT_EQ(trace.records.size(), 2U);
  EXPECT_EQ(tally.of_other_clusters, 1U);
  EXPECT_EQ(trace.header.find("Computer"), "alpha");
  EXPECT_NE(message_of<InputError>([] {
              (void)convert_dump("two-clusters", {}, {.cluster = "gamma"});
            }).find("no jobs of cluster 'gamma': found alpha, beta"),
            std::string::npos);
  EXPECT_THROW((void)convert_dump("pipe", {}, {.cluster = "alpha"}), InputError) << "it has no column Cluster";
}

TEST(SacctEligible, IsKeptBesideTheSubmission) {
  const Trace trace = convert_dump("eligible").trace;
  EXPECT_EQ(trace.records[1].submit, 10s);
  EXPECT_EQ(trace.records[1].wait, 3590s) << "field 3 is Start - Submit, as SWF has it";
  EXPECT_EQ(trace.eligible, (std::vector<Duration>{0s, 3590s, 21300s}));
  EXPECT_EQ(trace.later_eligible, 2U);
}

TEST(SacctColumns, RequestsStandInWhereNoneSaysWhatWasAllocated) {
  const Trace trace = convert_dump("reqcpus-only").trace;
  EXPECT_EQ(lines_of(trace.records),
            "1 0 0 3600 -1 -1 -1 16 7200 4194304 -1 1 1 -1 1 1 -1 -1\n"
            "2 600 600 1800 -1 -1 -1 8 3600 4194304 -1 2 2 -1 1 1 -1 -1\n");
  EXPECT_EQ(trace.without_size, 2U);
  EXPECT_EQ(trace.most_in_use, 24);
}

TEST(SacctLimits, AMissingOneIsSetOnRequestAndNeverBelowTheRunTime) {
  EXPECT_EQ(convert_dump("unlimited").trace.without_limit, 2U);
  const Trace week = convert_dump("unlimited", {.missing_limit = std::chrono::days{7}}).trace;
  EXPECT_EQ(week.records[0].requested_time, Duration{std::chrono::days{7}});
  EXPECT_EQ(week.records[1].requested_time, 1h);
  const Trace short_one = convert_dump("unlimited", {.missing_limit = 1200s}).trace;
  EXPECT_EQ(short_one.records[2].requested_time, 1500s);
}

TEST(SacctStates, AJobThatChangedItsSizeIsOneJob) {
  const auto [trace, tally] = convert_dump("states");
  ASSERT_EQ(trace.records.size(), 5U);
  EXPECT_EQ(trace.resized, 1U);
  EXPECT_EQ(trace.records[1].run, 7200s);
  EXPECT_EQ(trace.records[1].allocated, 4);
  EXPECT_EQ(trace.records[1].status, 1);
}

TEST(SacctStates, AStateOfALaterSlurmCostsNoJob) {
  const auto [trace, tally] =
      convert_text("JobID|Submit|Start|End|AllocCPUS|State\n1|1700000000|1700000000|1700000060|2|HIBERNATED by 7\n");
  EXPECT_EQ(trace.records.at(0).run, 60s);
  EXPECT_EQ(trace.records.at(0).status, -1);
  EXPECT_EQ(tally.unknown_states, 1U);
  EXPECT_EQ(tally.unknown_state, "HIBERNATED by 7");
}

// Units and columns as Slurm 20.11, 21.08, 22.05, 23.02 and 25.11 print them: the same job, with two GPUs, that could
// start 40 s after its submission.
TEST(SacctVersions, PrintTheSameJobInTheirColumns) {
  const std::string expected = "1 0 100 3600 16 -1 -1 16 7200 4096000 1 1 -1 -1 -1 -1 -1 -1\n";
  for (const char* const dump :
       {"JobID|User|Submit|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|NNodes|TimelimitRaw|ReqMem|Reserved|Suspended|State\n"
        "9|ann|2024-03-01T12:00:00|2024-03-01T12:01:40|2024-03-01T13:01:40|3600|16|16|2|120|4000Mc|00:01:00|00:00:00|"
        "COMPLETED\n",
        "JobID|User|Submit|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|NNodes|TimelimitRaw|ReqMem|Reserved|State|"
        "SubmitLine\n"
        "9|ann|2024-03-01T12:00:00|2024-03-01T12:01:40|2024-03-01T13:01:40|3600|16|16|2|120|64000M|00:01:00|COMPLETED|"
        "sbatch -n 16 --wrap=a | b\n",
        "JobID|User|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|Timelimit|ReqMem|Planned|State\n"
        "9|ann|2024-03-01T12:00:00|2024-03-01T12:01:40|2024-03-01T13:01:40|01:00:00|"
        "billing=16,cpu=16,gres/gpu:a100=2,gres/gpu=2,mem=64000M,node=2|billing=16,cpu=16,gres/gpu=2,mem=64000M,node=2|"
        "02:00:00|62.5G|00:01:00|COMPLETED\n",
        "JobID|User|Submit|Eligible|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|TimelimitRaw|ReqMem|Planned|Restarts|Reason|"
        "State\n"
        "9|ann|1709294400|1709294440|1709294500|1709298100|3600|16|16|120|62.5G|00:01:00|0|None|COMPLETED\n"}) {
    const auto [trace, tally] = convert_text(dump, {.strict = true});
    EXPECT_EQ(lines_of(trace.records), expected) << dump;
    EXPECT_EQ(trace.eligible.at(0), 40s) << dump;
  }
}

TEST(SacctVersions, EachStateHasItsStatusWaitAndRunTime) {
  const auto [trace, tally] = convert_text(
      "JobID|Submit|Start|End|ElapsedRaw|AllocCPUS|ReqCPUS|State\n"
      "1|1700000000|1700000010|1700000070|60|4|4|DEADLINE\n"
      "2|1700000001|Unknown|1700000100|0|0|4|DEADLINE\n"
      "3|1700000002|Unknown|1700000100|0|0|4|REVOKED\n"
      "4|1700000003|Unknown|Unknown|0|0|4|PENDING\n"
      "5|1700000004|1700000010|Unknown|60|4|4|SUSPENDED\n"
      "6_[1-9%2]|1700000005|None|Unknown|0|0|4|PENDING\n"
      "7+0|1700000006|1700000010|1700000070|60|4|4|OUT_OF_MEMORY\n"
      "7+1|1700000006|1700000010|1700000070|60|8|8|COMPLETED\n"
      "8|1700000007|1700000100|1700000100|0|0|4|CANCELLED by 0\n",
      {.strict = true});
  EXPECT_EQ(lines_of(trace.records),
            "1 0 10 60 4 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
            "2 1 99 -1 -1 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
            "3 2 98 -1 -1 -1 -1 4 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
            "4 3 -1 -1 -1 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
            "5 4 6 -1 4 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
            "6 5 -1 -1 -1 -1 -1 4 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n"
            "7 6 4 60 12 -1 -1 12 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
            "8 7 93 -1 -1 -1 -1 4 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n");
}

TEST(SacctVersions, ElapsedIsWithoutTheTimeSuspended) {
  const auto [trace, tally] = convert_text(
      "JobID|JobName|Submit|Start|End|ElapsedRaw|Suspended|AllocCPUS|State\n"
      "1|a|b|1700000000|1700000000|1700000100|60|00:00:40|4|COMPLETED\n",
      {.strict = true});
  EXPECT_EQ(trace.records.at(0).run, 60s);
}

TEST(SacctVersions, EarlierRunsThatTheDumpLacksAreCounted) {
  const std::string header = "JobID|Submit|Start|End|AllocCPUS|Restarts|State\n";
  const std::string last = "1|1700000100|1700000110|1700000170|4|1|COMPLETED\n";
  EXPECT_EQ(convert_text(header + last).trace.lone_runs, 1U);
  EXPECT_EQ(convert_text(header + "1|1700000000|1700000010|1700000100|4|0|REQUEUED\n" + last).trace.lone_runs, 0U);
}

// 2 waits for the second run of 1; 3 names a job that is not there, 4 one that ended after it could start, 5 two jobs.
TEST(SacctEligible, TheOneJobThatAnotherWaitedForIsItsPreceding) {
  const Trace trace = convert_text(
                          "JobID|Submit|Eligible|Start|End|AllocCPUS|State|SubmitLine\n"
                          "1|1700000000|1700000000|1700000000|1700000050|4|REQUEUED|sbatch a\n"
                          "1|1700000050|1700000050|1700000060|1700000100|4|COMPLETED|sbatch a\n"
                          "2|1700000010|1700000102|1700000110|1700000200|4|COMPLETED|sbatch -d afterok:1 b | c\n"
                          "3|1700000020|1700000120|1700000130|1700000200|4|COMPLETED|sbatch -d afterok:99 b\n"
                          "4|1700000130|1700000130|1700000140|1700000200|4|COMPLETED|sbatch -d afterok:2 b\n"
                          "5|1700000140|1700000200|1700000200|1700000300|4|COMPLETED|sbatch -d afterok:2:4 b\n"
                          "6|1700000150|1700000200|1700000200|1700000300|4|COMPLETED|sbatch -d afterany:2 b\n")
                          .trace;
  EXPECT_EQ(trace.followers, 1U) << "2 is submitted before the second run of 1, so only 6 can follow in a simulation";
  EXPECT_EQ(trace.records.at(6).preceding, 2);
  EXPECT_EQ(trace.records.at(6).think_time, 0s);
}

TEST(SacctEligible, ThinkTimeIsFromTheEndUntilTheJobCouldStart) {
  const Trace trace =
      convert_text(
          "JobID|Submit|Eligible|Start|End|AllocCPUS|State|SubmitLine\n"
          "1_1|1700000000|1700000000|1700000000|1700000050|4|COMPLETED|sbatch -a 1-2 a\n"
          "1_2|1700000000|1700000000|1700000000|1700000070|4|COMPLETED|sbatch -a 1-2 a\n"
          "2_1|1700000010|1700000052|1700000060|1700000090|4|COMPLETED|sbatch --dependency=aftercorr:1 b\n"
          "2_2|1700000010|1700000075|1700000080|1700000090|4|COMPLETED|sbatch --dependency=aftercorr:1 b\n")
          .trace;
  EXPECT_EQ(trace.records.at(2).preceding, 1);
  EXPECT_EQ(trace.records.at(2).think_time, 2s);
  EXPECT_EQ(trace.records.at(3).preceding, 2);
  EXPECT_EQ(trace.records.at(3).think_time, 5s);
}

TEST(SacctEligible, AJobThatNeverCouldStartBecomesEligibleAsItIsCancelled) {
  const Trace trace = convert_text(
                          "JobID|Submit|Eligible|Start|End|AllocCPUS|ReqCPUS|State\n"
                          "1|1700000000|Unknown|None|1700000100|0|4|CANCELLED by 7\n"
                          "2|1700000000|Unknown|1700000100|1700000100|0|4|CANCELLED by 7\n"
                          "3|1700000000|1700000000|None|1700000100|0|4|CANCELLED by 7\n"
                          "4|1700000000|Unknown|None|Unknown|0|4|PENDING\n")
                          .trace;
  EXPECT_EQ(trace.eligible, (std::vector<Duration>{100s, 100s, 0s, 0s}));
}

// 2024-10-27, 03:00 CEST is 02:00 CET.
TEST(SacctTimes, NoJobStartsBeforeItsSubmissionInTheHourThatAutumnRepeats) {
  const auto [trace, tally] = convert_text(
      "JobID|Submit|Start|End|ElapsedRaw|AllocCPUS|State\n"
      "1|2024-10-27T02:50:00|2024-10-27T02:10:00|2024-10-27T03:10:00|3600|2|COMPLETED\n"
      "2|2024-10-27T01:50:00|2024-10-27T02:30:00|2024-10-27T02:10:00|2400|2|COMPLETED\n"
      "3|2024-10-27T01:50:00|2024-10-27T02:30:00|2024-10-27T02:40:00|600|2|COMPLETED\n",
      {.time_zone = "Europe/Stockholm"});
  ASSERT_EQ(trace.records.size(), 3U);
  EXPECT_EQ(lines_of(trace.records),
            "1 0 2400 2400 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
            "2 0 2400 600 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
            "3 3600 1200 3600 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
}

}  // namespace
}  // namespace replay::sacct
