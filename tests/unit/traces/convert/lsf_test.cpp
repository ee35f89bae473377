// Tests of reading LSF's lsb.acct: the sample that docs/formats/lsf.md explains, and records of several versions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/lsf_reader.hpp"

namespace replay::lsf {
namespace {

using accounting::Fate;
using accounting::read_trace;
using accounting::Trace;
using namespace std::chrono_literals;
using test::lines_of;
using test::memory_source;
using test::message_of;

// The fields up to exitInfo: job 7, submitted at 1700000000, started 10 s and ended 70 s later on two processors.
std::string record(const std::string& version, const std::string& hosts = "2 \"h1\" \"h1\"",
                   const std::string& command = "\"./md\"", int status = 64, int exit_info = 0) {
  return fmt::format(
      "\"JOB_FINISH\" \"{}\" 1700000070 7 1001 0 2 1700000000 0 0 1700000010 \"ann\" \"normal\" \"\" \"\" \"\" "
      "\"login\" "
      "\"/home/ann\" \"\" \"\" \"\" \"1700000000.7\" 0 {} {} 60.0 \"md\" {} 90.5 9.5 0 0 -1 0 0 0 0 0 0 0 -1 0 0 0 0 0 "
      "-1 "
      "\"\" \"chem\" 0 2 \"\" \"\" 0 4096 0 \"\" \"\" \"\" \"\" 0 \"\" {}",
      version, hosts, status, command, exit_info);
}

// What version 9.1 has behind that, with the usage of hosts.
std::string newer(const std::string& usage, int limit, int run) {
  return fmt::format(
      " \"\" -1 \"\" \"\" \"\" \"\" -1 \"\" \"\" 0 \"\" 1700000010 \"\" \"\" 1 1032 \"0\" {} {} 4194304 1024 "
      "\"select[x] \" \"\" -1 "
      "\"\" -1 0 \"\" 0 0 \"\" {} \"/home/ann\" 0 \"\"",
      usage, limit, run);
}

// docs/formats/lsf.md explains this log line by line.
TEST(LsfLog, TheSampleBecomesWhatItsPageSays) {
  Reader reader(open_source(fmt::format("{}/traces/samples/sample.lsf", REPLAY_SOURCE_DIR)),
                {.time_zone = "Europe/Stockholm", .strict = true});
  const Trace trace = read_trace(reader);
  EXPECT_EQ(lines_of(trace.records),
            "1 0 100 3600 32 1803.609375 1048576 32 7200 -1 1 1 1 1 1 -1 -1 -1\n"
            "2 600 5 601 1 571 819200 1 600 -1 0 2 2 2 1 -1 -1 -1\n"
            "3 600 6 300 1 270 819200 1 600 -1 1 2 2 2 1 -1 -1 -1\n"
            "4 900 3600 -1 -1 -1 -1 64 43200 -1 5 2 2 3 1 -1 -1 -1\n"
            "5 1500 300 2400 4 1800 -1 4 3600 -1 1 3 2 4 2 -1 -1 -1\n"
            "6 2000 0 690 2 345 102400 2 -1 -1 1 1 1 5 2 -1 -1 -1\n"
            "7 2100 960 545 8 540 -1 8 14400 -1 5 3 2 -1 1 -1 6 10\n"
            "8 2400 10 600 4 300 1048576 4 3600 -1 0 4 3 6 3 -1 -1 -1\n"
            "9 4000 100 800 1 -1 -1 1 -1 -1 1 4 3 7 3 -1 -1 -1\n");
  EXPECT_EQ(trace.eligible[6], 900s);
  EXPECT_EQ(trace.eligible[7], 5s);
  EXPECT_EQ(reader.tally().other_records, 1U);
  EXPECT_EQ(trace.header.find("Conversion"), "from lsf");
}

TEST(LsfRecord, AnOldVersionEndsEarly) {
  const Job job = read_job(record("6.0"));
  EXPECT_EQ(job.id, "7");
  EXPECT_EQ(job.elapsed, 60s);
  EXPECT_EQ(job.allocated, 2);
  EXPECT_EQ(job.total_cpu, 100s);
  EXPECT_EQ(job.used_memory, 2048);
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.group, "chem");
  EXPECT_FALSE(job.time_limit);
}

TEST(LsfRecord, LimitAndRunTimeStandBehindTheUsageOfHostsWhicheverWidthThatHas) {
  for (const char* const usage :
       {"0", "1 h1 100 0 50 5", "2 h1 100 0 50 5 0 h2 100 0 50 5 0", "2 \"h1\" 100 0 50 5 \"h2\" 100 0 50 5"}) {
    const Job job = read_job(record("9.11") + newer(usage, 3600, 50));
    EXPECT_EQ(job.time_limit, 3600s) << usage;
    EXPECT_EQ(job.elapsed, 50s) << usage;
  }
  const Job unlimited = read_job(record("9.11") + newer("0", -1, 60));
  EXPECT_FALSE(unlimited.time_limit);
}

TEST(LsfRecord, HostsAreNamedOnceAProcessorOrWithTheirNumber) {
  EXPECT_EQ(read_job(record("10.1", "3 \"h1\" \"h1\" \"h2\"")).allocated, 3);
  EXPECT_EQ(read_job(record("10.1", "2 \"16*h1\" \"8*h2\"")).allocated, 24);
}

TEST(LsfRecord, TextsHaveQuotationMarksDoubled) {
  const Job job =
      read_job(record("10.1", "1 \"h1\"", "\"#BSUB -R \"\"span[ptile=16]\"\";echo \"\"a \"\"\"\"b\"\"\"\" c\"\"\""));
  EXPECT_EQ(job.elapsed, 60s);
  EXPECT_EQ(job.group, "chem");
}

TEST(LsfRecord, KilledByItsOwnerIsCancelledByALimitIsFailed) {
  const auto fate = [](int status, int exit_info) {
    return read_job(record("10.1", "1 \"h1\"", "\"./md\"", status, exit_info)).fate;
  };
  EXPECT_EQ(fate(64, 0), Fate::kCompleted);
  EXPECT_EQ(fate(32, 0), Fate::kFailed);
  for (const int killed : {8, 9, 14, 15, 23}) EXPECT_EQ(fate(32, killed), Fate::kCancelled) << killed;
  for (const int limit : {1, 5, 12, 16}) EXPECT_EQ(fate(32, limit), Fate::kFailed) << limit;
}

TEST(LsfLog, OverlappingFilesHaveAJobOnce) {
  std::vector<std::unique_ptr<accounting::Reader>> readers;
  for (int i = 0; i < 2; ++i)
    readers.push_back(std::make_unique<Reader>(memory_source("# 12\n" + record("10.1") + "\n"), ReaderOptions{}));
  const Trace trace = read_trace(readers);
  EXPECT_EQ(trace.records.size(), 1U);
  EXPECT_EQ(trace.repeated, 1U);
}

TEST(LsfLog, DamagedRecordsAreCountedAndNameTheField) {
  const std::string good = record("10.1") + "\n";
  std::string cut = record("10.1");
  cut.resize(cut.find("\"md\""));
  Reader reader(
      memory_source(good + cut + "\nJOB_FINISH\n\"JOB_FINISH\" \"10.1\" soon 7\n\"JOB_FINISH\" \"10\n", "lsb.acct"),
      {});
  const Trace trace = read_trace(reader);
  EXPECT_EQ(trace.records.size(), 1U);
  EXPECT_EQ(
      reader.tally().broken_messages,
      (std::vector<std::string>{"lsb.acct:2: field 29 (jobName): expected a text, found the end of the line",
                                "lsb.acct:3: expected a record such as \"JOB_FINISH\", found 'JOB_FINISH'",
                                "lsb.acct:4: field 3 (Event Time): expected seconds since 1970, found 'soon'",
                                "lsb.acct:5: field 2: expected a closing quotation mark, found the end of the line"}));
  EXPECT_EQ(message_of<InputError>([] {
              Reader empty(memory_source("# 1\n", "lsb.acct"), {});
              (void)read_trace(empty);
            }),
            "lsb.acct: no jobs: expected records \"JOB_FINISH\" of lsb.acct, found none");
}

}  // namespace
}  // namespace replay::lsf
