// Tests on the logs of the Parallel Workloads Archive: every record survives reading and writing, and known counts come
// out. The logs are not part of the source; without them these tests skip.
#include "tests/support/archive_logs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/traces/swf_text.hpp"
#include "traces/swf_writer.hpp"

namespace replay {
namespace {

class ArchiveLogs : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT(test::archive_folder()); }
};

struct ExpectedCount {
  const char* log;
  std::uint64_t records;
};

// Records of each file, from its header's MaxJobs and the removals its notes list.
constexpr ExpectedCount kRecords[] = {{"CEA-Curie-2011-2.1-cln", 312826},
                                      {"CTC-SP2-EASY-reference", 77199},
                                      {"HPC2N-2002-2.1-cln", 202876},
                                      {"KTH-SP2-1996-2.1-cln", 28476},
                                      {"KTH-SP2-1996-2", 28490},
                                      {"KTH-SP2-EASY-reference", 28481},
                                      {"LANL-CM5-1994-4.1-cln", 122060},
                                      {"LLNL-Atlas-2006-2.1-cln", 43778},
                                      {"LLNL-Thunder-2007-1.1-cln", 121039},
                                      {"NASA-iPSC-1993-3.1-cln", 18239},
                                      {"SDSC-BLUE-2000-4.2-cln", 243306},
                                      {"SDSC-BLUE-EASY-reference", 232542},
                                      {"SDSC-SP2-1998-4.2-cln", 59715},
                                      {"SDSC-SP2-1998-first4961", 4961},
                                      {"SDSC-SP2-EASY-reference", 54006},
                                      {"lublin_256", 10000}};

TEST_F(ArchiveLogs, EveryRecordHeaderLineAndCommentSurvivesReadingAndWriting) {
  for (const auto& [log, count] : kRecords) {
    SwfReader reader(test::archive_log(log));
    std::string text;
    SwfWriter writer(test::string_sink(text));
    writer.write(reader.header());
    std::vector<SwfRecord> records;
    for (SwfRecord record; reader.next(record); records.push_back(record)) {
      for (const std::string& comment : reader.comments()) writer.write_comment(comment);
      writer.write(record);
    }
    writer.close();
    EXPECT_EQ(reader.broken_lines(), 0U) << log;
    EXPECT_EQ(records.size(), count) << log;

    SwfReader again(test::memory_source(text));
    EXPECT_EQ(again.header().lines(), reader.header().lines()) << log;
    std::size_t at = 0;
    for (SwfRecord record; again.next(record); ++at) ASSERT_EQ(record, records.at(at)) << log << " record " << at;
    EXPECT_EQ(at, records.size()) << log;
  }
}

TEST_F(ArchiveLogs, KthHasTheQuirksThatAreKnown) {
  const LoadedWorkload loaded = read_workload(test::archive_log("KTH-SP2-1996-2"));
  EXPECT_EQ(loaded.machine_size, 100);
  EXPECT_EQ(loaded.report.read, 28490U);
  EXPECT_EQ(loaded.report.kept, 28489U);
  EXPECT_EQ(loaded.report.count("size-missing"), 1U);
  EXPECT_EQ(loaded.report.count("runtime-zero"), 8U);
  EXPECT_EQ(loaded.report.count("over-request"), 475U);
  EXPECT_EQ(loaded.report.count("size-fields-differ"), 219U);
  EXPECT_EQ(loaded.report.count("max-records"), 0U);
}

TEST_F(ArchiveLogs, LanlHasTheQuirksThatAreKnown) {
  const LoadedWorkload loaded = read_workload(test::archive_log("LANL-CM5-1994-4.1-cln"));
  EXPECT_EQ(loaded.report.count("size-missing"), 3U);
  EXPECT_EQ(loaded.report.count("over-request"), 40180U);
  EXPECT_EQ(loaded.report.count("memory-request"), 110770U);
  EXPECT_EQ(loaded.report.count("max-records"), 1U);
}

TEST_F(ArchiveLogs, BlueHorizonGivesTheJobsOfItsReferenceScheduleAndThoseOfRunTimeZero) {
  const LoadedWorkload loaded = read_workload(test::archive_log("SDSC-BLUE-2000-4.2-cln"));
  EXPECT_EQ(loaded.report.count("cancelled-never-ran") + loaded.report.count("runtime-missing"), 10744U);
  EXPECT_EQ(loaded.report.count("over-request"), 23434U);
  EXPECT_EQ(loaded.report.count("runtime-zero"), 26U);
  EXPECT_EQ(loaded.workload.jobs.size(), 232562U);
}

TEST_F(ArchiveLogs, ThunderLosesTheRecordsWithoutSubmitTimeAndIsThenInOrder) {
  const LoadedWorkload loaded = read_workload(test::archive_log("LLNL-Thunder-2007-1.1-cln"));
  EXPECT_EQ(loaded.report.count("submit-missing"), 1190U);
  EXPECT_EQ(loaded.report.count("out-of-order"), 0U);
}

TEST_F(ArchiveLogs, CurieKeepsItsZero) {
  const LoadedWorkload loaded = read_workload(test::archive_log("CEA-Curie-2011-2.1-cln"));
  EXPECT_EQ(loaded.workload.jobs.front().job.submitted, Instant{std::chrono::seconds{31656837}});
  EXPECT_EQ(loaded.machine_size, 93312);
}

TEST_F(ArchiveLogs, LublinHasItsSizeInMaxNodes) {
  const LoadedWorkload loaded = read_workload(test::archive_log("lublin_256"));
  EXPECT_EQ(loaded.machine_size, 256);
  EXPECT_EQ(loaded.report.count("request-missing"), 10000U);
}

TEST(Samples, AreThePrefixOfTheReferenceScheduleThatLaterJobsCannotChange) {
  for (const auto& [name, count] : {ExpectedCount{"kth-easy-149", 149}, ExpectedCount{"kth-easy-1127", 1127}}) {
    SwfReader reader(
        (std::filesystem::path(REPLAY_SOURCE_DIR) / "traces/samples" / (std::string(name) + ".swf")).string(),
        {.strict = true});
    EXPECT_EQ(reader.header().max_procs(), 100);
    EXPECT_EQ(reader.header().max_records(), count);
    EXPECT_EQ(reader.header().find("Acknowledge"), "Lars Malinowsky");
    for (SwfRecord record; reader.next(record);) EXPECT_GE(record.wait, Duration::zero());
    EXPECT_EQ(reader.records(), count);
  }
}

// docs/formats/swf.md explains each of its four lines.
TEST(FormatPage, ItsWorkedExampleIsTrue) {
  std::ifstream page(std::filesystem::path(REPLAY_SOURCE_DIR) / "docs/formats/swf.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  const std::size_t from = text.find("; Version: 2.2\n; Computer: two nodes");
  ASSERT_NE(from, std::string::npos);
  const std::string example = text.substr(from, text.find("```", from) - from);

  const LoadedWorkload loaded = read_workload(test::memory_source(example), {.closed_loop = true}, {.strict = true});
  const TracedJobs& jobs = loaded.workload.jobs;
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(loaded.programs.at(jobs[0].truth.executable), "cg --class W --repeat 40");
  EXPECT_DOUBLE_EQ(jobs[0].truth.behaviour.cpu_use, 0.6);
  EXPECT_EQ(jobs[0].job.estimate, std::chrono::seconds{200});
  EXPECT_EQ(jobs[1].job.processes, 2);
  EXPECT_TRUE(jobs[1].truth.cut_at_request);
  EXPECT_EQ(loaded.report.count("cancelled-never-ran"), 1U);
  EXPECT_EQ(jobs[2].job.estimate, std::chrono::seconds{5});
  EXPECT_EQ(jobs[2].follows, JobId{1});
  EXPECT_EQ(jobs[2].think_time, std::chrono::seconds{60});
}

}  // namespace
}  // namespace replay
