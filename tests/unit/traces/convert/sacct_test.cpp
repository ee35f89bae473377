// Tests of reading sacct's output: the cells as sacct(1) describes them, and the sample dump that docs/formats/sacct.md
// explains.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/sacct_reader.hpp"
#include "traces/convert/sacct_values.hpp"

namespace replay::sacct {
namespace {

using accounting::read_trace;
using accounting::Trace;
using namespace std::chrono_literals;
using test::lines_of;
using test::memory_source;
using test::message_of;

Trace convert(const std::string& text, const ReaderOptions& options = {}) {
  Reader reader(memory_source(text, "dump.sacct"), options);
  return read_trace(reader);
}

TEST(SacctValues, ElapsedTimesHaveDaysHoursAndFractionsOrNot) {
  EXPECT_EQ(read_elapsed("1-02:03:04").value, 93784s);
  EXPECT_EQ(read_elapsed("00:00:00").value, 0s);
  EXPECT_EQ(read_elapsed("09:30.500").value, 570500ms);
  EXPECT_EQ(read_elapsed("100:00:00").value, 360000s);
  for (const char* const nothing : {"UNLIMITED", "Partition_Limit", "INVALID", ""}) {
    EXPECT_TRUE(read_elapsed(nothing).is_right) << nothing;
    EXPECT_FALSE(read_elapsed(nothing).value) << nothing;
  }
  for (const char* const wrong : {"12", "1:2:3:4", "-1:00:00", "a-01:00:00", "01:00:", "99999999999999999:00:00"})
    EXPECT_FALSE(read_elapsed(wrong).is_right) << wrong;
}

TEST(SacctValues, MemoryIsPerProcessorNodeOrJob) {
  EXPECT_EQ(read_memory("4000Mc", 1024).value->kilobytes, 4000 * 1024);
  EXPECT_EQ(read_memory("4000Mc", 1024).value->per, MemoryPer::kProcessor);
  EXPECT_EQ(read_memory("16Gn", 1024).value->per, MemoryPer::kNode);
  EXPECT_EQ(read_memory("3.5G", 1024).value->kilobytes, 3.5 * 1024 * 1024);
  EXPECT_EQ(read_memory("3.5G", 1024).value->per, MemoryPer::kJob);
  EXPECT_EQ(read_memory("2000", 1024).value->kilobytes, 2000 * 1024);
  for (const char* const wrong : {"G", "-1M", "1X", "nan", "inf", "1e300G", "n"})
    EXPECT_FALSE(read_memory(wrong, 1024).is_right) << wrong;
}

TEST(SacctValues, StatesMayBeCutOffOrSayWhoCancelled) {
  EXPECT_EQ(read_state("COMPLETED"), Fate::kCompleted);
  EXPECT_EQ(read_state("CANCELLED by 1000"), Fate::kCancelled);
  EXPECT_EQ(read_state("CANCELLED+"), Fate::kCancelled);
  EXPECT_EQ(read_state("OUT_OF_ME+"), Fate::kFailed);
  for (const char* const failed : {"TIMEOUT", "NODE_FAIL", "PREEMPTED", "REQUEUED"})
    EXPECT_EQ(read_state(failed), Fate::kFailed) << failed;
  EXPECT_EQ(read_state("RUNNING"), Fate::kUnfinished);
  EXPECT_EQ(read_state("RESIZING"), Fate::kResized);
  for (const char* const running : {"EXPEDITING", "POWER_UP_NODE", "RESV_DEL_HOLD", "UPDATE_DB"})
    EXPECT_EQ(read_state(running), Fate::kUnfinished) << running;
  EXPECT_FALSE(read_state("DONE"));
  EXPECT_TRUE(may_be_state("DONE"));
  EXPECT_FALSE(may_be_state("/home/ann"));
  EXPECT_FALSE(read_state("+"));
}

TEST(SacctValues, JobIdsOfStepsArraysAndHeterogeneousJobs) {
  EXPECT_FALSE(read_id("1234")->is_step);
  EXPECT_TRUE(read_id("1234.batch")->is_step);
  EXPECT_EQ(read_id("1234_7.extern")->job, "1234_7");
  EXPECT_EQ(read_id("1234+1.0")->job, "1234+1");
  EXPECT_EQ(read_id("1234+1")->leader, "1234");
  EXPECT_FALSE(read_id("1234_[2,5-1...]")->is_step);
  EXPECT_FALSE(read_id("JobID"));
}

TEST(SacctValues, ResourcesAreFoundByName) {
  EXPECT_EQ(read_resource("billing=8,cpu=12,mem=32G,node=2", "cpu").value, 12);
  EXPECT_FALSE(read_resource("billing=8,gres/cpu=3", "cpu").value);
  EXPECT_FALSE(read_resource("cpu=x", "cpu").is_right);
}

TEST(SacctValues, LocalTimesKnowSummerTime) {
  const LocalClock stockholm("Europe/Stockholm");
  EXPECT_EQ(read_time("2024-01-01T12:00:00", stockholm).value, 1704106800);  // UTC+1
  EXPECT_EQ(read_time("2024-07-01T12:00:00", stockholm).value, 1719828000);  // UTC+2
  EXPECT_EQ(read_time("2024-10-27T02:30:00", stockholm).value, 1729989000);  // twice: the first one
  EXPECT_EQ(read_time("1704106800", stockholm).value, 1704106800);
  EXPECT_FALSE(read_time("Unknown", stockholm).value);
  EXPECT_TRUE(read_time("None", stockholm).is_right);
  EXPECT_FALSE(read_time("2024-02-30T12:00:00", stockholm).is_right);
  EXPECT_FALSE(read_time("yesterday", stockholm).is_right);
  EXPECT_THROW(LocalClock("Europe/Nowhere"), UsageError);
}

// docs/formats/sacct.md explains this dump line by line.
TEST(SacctDump, TheSampleBecomesWhatItsPageSays) {
  Reader reader(open_source((std::filesystem::path(REPLAY_SOURCE_DIR) / "traces/samples/sample.sacct").string()),
                {.time_zone = "Europe/Stockholm", .strict = true});
  const Trace trace = read_trace(reader);
  EXPECT_EQ(lines_of(trace.records),
            "1 0 100 3600 16 3420 1572864 16 7200 2048000 1 1 1 1 1 1 -1 -1\n"
            "2 300 600 1800 40 1170 2097152 40 3600 2097152 0 1 1 2 2 1 -1 -1\n"
            "3 600 5 600 1 570.5 819200 1 -1 4194304 0 2 2 3 1 1 -1 -1\n"
            "4 600 1200 -1 -1 -1 -1 1 -1 4194304 5 2 2 3 1 1 -1 -1\n"
            "5 149400 3600 -1 4 -1 -1 4 86400 -1 -1 3 2 4 2 2 -1 -1\n");
  EXPECT_EQ(reader.tally().steps, 5U);
  EXPECT_EQ(reader.tally().components, 1U);
  EXPECT_EQ(trace.unfinished, 1U);
  EXPECT_FALSE(trace.was_sorted);
  EXPECT_EQ(trace.most_in_use, 57);
  EXPECT_EQ(trace.header.unix_start_time(), 1711695600);
  EXPECT_EQ(trace.header.find("StartTime"), "Fri Mar 29 08:00:00 CET 2024");
  EXPECT_EQ(trace.header.find_all("Partition"), (std::vector<std::string_view>{"1 batch", "2 gpu"}));
}

constexpr const char* kHeader = "JobID|Submit|Start|End|AllocCPUS|State\n";

TEST(SacctDump, ARequeuedRunIsAJobOfItsOwn) {
  const Trace trace = convert(std::string(kHeader) +
                              "7|1700000000|1700000010|1700000050|2|REQUEUED\n"
                              "7|1700000050|1700000060|1700000160|2|COMPLETED\n");
  ASSERT_EQ(trace.records.size(), 2U);
  EXPECT_EQ(trace.records[0].status, 0);
  EXPECT_EQ(trace.records[0].run, 40s);
  EXPECT_EQ(trace.records[1].submit, 50s);
  EXPECT_EQ(trace.records[1].status, 1);
}

// Names go into the header of the trace, and from there to terminals.
TEST(SacctDump, NamesComeInWithoutEscapeSequencesAndAsUtf8) {
  const Trace trace = convert(
      "JobID|Submit|Start|End|AllocCPUS|State|Partition\n"
      "7|1700000000|1700000010|1700000050|2|COMPLETED|\x1b]0;title\x07gr\xc3\xbcn\x1b[2J\xff\n");
  const Trace longer =
      convert("JobID|Submit|Start|End|AllocCPUS|State|Partition\n7|1700000000|1700000010|1700000050|2|COMPLETED|" +
              std::string(2000, 'x') + "\n");
  EXPECT_EQ(longer.header.find("Partition").value_or("").size(), 2 + 1024 + 3U);
  EXPECT_EQ(trace.header.find("Partition"), "1 gr\xc3\xbcn\xEF\xBF\xBD");
}

TEST(SacctDump, TheEmptyCellAtTheEndOfParsableLinesIsNoColumn) {
  EXPECT_EQ(convert("JobID|Submit|Elapsed|NCPUS|\n1|1700000000|00:01:00|4|\n").records.at(0).run, Duration{-1s});
  EXPECT_EQ(convert("JobID|Submit|Start|Elapsed|NCPUS|\n1|1700000000|1700000001|00:01:00|4|\n").records.at(0).run, 60s);
}

TEST(SacctDump, ManyJobsWithoutSubmitTimeAreCountedAndCostNoStack) {
  std::string text = kHeader;
  for (int i = 0; i < 200'000; ++i) text += "1|Unknown|None|Unknown|0|PENDING\n";
  text += "2|1700000000|1700000010|1700000050|2|COMPLETED\n";
  Reader reader(memory_source(text));
  Job job;
  EXPECT_TRUE(reader.next(job));
  EXPECT_EQ(reader.tally().without_submit, 200'000U);
}

TEST(SacctDump, ErrorsNameLineAndField) {
  const auto message = [](const std::string& text, bool strict = true) {
    return message_of<InputError>([&] { (void)convert(text, {.strict = strict}); });
  };
  EXPECT_EQ(message(std::string(kHeader) + "7|1700000000|soon|1700000050|2|COMPLETED\n"),
            "dump.sacct:2: field Start: expected a time such as 2024-03-01T12:00:00, found 'soon'");
  EXPECT_EQ(message(std::string(kHeader) + "7|1700000000|1700000010\n"),
            "dump.sacct:2: expected 6 cells as in the header row, found 3");
  EXPECT_EQ(
      message(std::string(kHeader) + "7|1700000000|1700000010|1700000050|2|done\n", false),
      "dump.sacct: no jobs: expected rows of sacct --parsable2, found dump.sacct:2: field State: expected a state of "
      "a job such as COMPLETED, found 'done'");
  EXPECT_NE(message("7|1700000000|1700000010|1700000050|2|COMPLETED\n").find("without --noheader"), std::string::npos);
  EXPECT_NE(message("").find("found nothing"), std::string::npos);
}

}  // namespace
}  // namespace replay::sacct
