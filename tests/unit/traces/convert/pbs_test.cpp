// Tests of reading PBS's accounting: the values of its records, the sample that docs/formats/pbs.md explains, and what
// records say of jobs that have no run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/convert/accounting_trace.hpp"
#include "traces/convert/pbs_reader.hpp"
#include "traces/convert/pbs_values.hpp"

namespace replay::pbs {
namespace {

using accounting::read_trace;
using accounting::Tally;
using accounting::Trace;
using namespace std::chrono_literals;
using test::lines_of;
using test::memory_source;
using test::message_of;

struct Converted {
  Trace trace;
  Tally tally;
  std::string lines;  // of SWF
};

Converted convert(std::vector<std::unique_ptr<ByteSource>> sources, const ReaderOptions& options) {
  Reader reader(std::move(sources), options);
  Converted converted{.trace = read_trace(reader), .tally = reader.tally(), .lines = {}};
  converted.lines = lines_of(converted.trace.records);
  return converted;
}

Converted convert_text(const std::vector<std::string>& files, const ReaderOptions& options = {}) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  for (std::size_t i = 0; i < files.size(); ++i)
    sources.push_back(memory_source(files[i], fmt::format("2024030{}", i + 1)));
  return convert(std::move(sources), options);
}

// A record on 2024-03-01, 1709251200 s after 1970 at midnight.
std::string record(const char* time, const char* type, const char* job, const std::string& attributes = "") {
  return fmt::format("03/01/2024 {};{};{};{}\n", time, type, job, attributes);
}

constexpr const char* kJob = "user=ann group=chem jobname=md queue=workq ctime=1709251200 qtime=1709251200 ";
constexpr const char* kOnFour = "exec_vnode=(n1:ncpus=4) Resource_List.ncpus=4 Resource_List.walltime=01:00:00 ";

TEST(PbsValues, DurationsMayBeSecondsAndHaveAnyNumberOfHours) {
  EXPECT_EQ(read_duration("3600"), 3600s);
  EXPECT_EQ(read_duration("100:00:01"), 360001s);
  EXPECT_EQ(read_duration("01:30"), 90s);
  EXPECT_EQ(read_duration("00:00:01.5"), 1500ms);
  for (const char* const wrong : {"", "1:2:3:4", "-1", "a", "1:", "99999999999:00:00", "01:-1"})
    EXPECT_FALSE(read_duration(wrong)) << wrong;
}

TEST(PbsValues, SizesHaveUnitsOfBytesOrWords) {
  EXPECT_EQ(read_memory("1048576kb"), 1048576);
  EXPECT_EQ(read_memory("4gb"), 4 * 1048576);
  EXPECT_EQ(read_memory("2048b"), 2);
  EXPECT_EQ(read_memory("2048"), 2);
  EXPECT_EQ(read_memory("2mw"), 2 * 8 * 1024);
  for (const char* const wrong : {"", "gb", "-1kb", "1xb", "inf", "1e300gb"}) EXPECT_FALSE(read_memory(wrong)) << wrong;
}

TEST(PbsValues, ProcessorsAreCountedInListsOfVnodesAndHosts) {
  EXPECT_EQ(processors_of_vnodes("(n1:ncpus=8:mem=4gb)+(n2:ncpus=4+n3:ncpus=4:ngpus=1)"), 16);
  EXPECT_EQ(processors_of_vnodes("(n1:mem=4gb)"), 0);
  EXPECT_EQ(processors_of_hosts("n1/0*8+n2/1*4"), 12);
  EXPECT_EQ(processors_of_hosts("n1/0+n1/1+n2/0-3,6"), 7);
  EXPECT_EQ(processors_of_hosts("n1/3"), 1);
  for (const char* const wrong : {"n1/x", "n1/5-2", "n1/0*-1", "n1/"})
    EXPECT_FALSE(processors_of_hosts(wrong)) << wrong;
  EXPECT_FALSE(processors_of_vnodes("(n1:ncpus=x)"));
}

TEST(PbsValues, ProcessorsOfARequestAreThoseOfAllItsChunks) {
  EXPECT_EQ(processors_of_request("2:ncpus=8:mem=4gb+ncpus=4"), 20);
  EXPECT_EQ(processors_of_request("2:ppn=8+big:ppn=4"), 20);
  EXPECT_EQ(processors_of_request("3"), 3);
  EXPECT_EQ(processors_of_request("n1+n2:ppn=2#shared"), 3);
  EXPECT_EQ(processors_of_request("1:ncpus=1:mpiprocs=4"), 1);
  EXPECT_FALSE(processors_of_request("2:ncpus=many"));
}

// docs/formats/pbs.md explains this log line by line.
TEST(PbsLog, TheSampleBecomesWhatItsPageSays) {
  std::vector<std::unique_ptr<ByteSource>> sources;
  sources.push_back(open_source(fmt::format("{}/traces/samples/sample.pbs", REPLAY_SOURCE_DIR)));
  const auto [trace, tally, lines] = convert(std::move(sources), {.time_zone = "Europe/Stockholm", .strict = true});
  EXPECT_EQ(lines,
            "1 0 100 3600 16 3420 1572864 16 7200 2097152 1 1 1 1 1 -1 -1 -1\n"
            "2 600 5 601 1 570 819200 1 600 -1 0 2 2 2 1 -1 -1 -1\n"
            "3 600 6 300 1 270 819200 1 600 -1 1 2 2 2 1 -1 -1 -1\n"
            "4 900 3600 -1 -1 -1 -1 64 43200 -1 5 2 2 3 1 -1 -1 -1\n"
            "5 1000 20 480 8 -1 -1 4 3600 -1 0 3 2 4 2 -1 -1 -1\n"
            "6 1500 300 2400 8 900 -1 4 3600 -1 1 3 2 4 2 -1 -1 -1\n"
            "7 2000 0 690 2 345 -1 2 3600 -1 1 1 1 5 1 -1 -1 -1\n"
            "8 2100 960 545 8 540 -1 8 14400 -1 5 3 2 6 1 -1 7 10\n"
            "9 2400 10 600 4 300 1048576 4 3600 2097152 0 4 3 7 3 -1 -1 -1\n"
            "10 5000 10 -1 8 -1 -1 8 86400 -1 -1 1 1 8 1 -1 -1 -1\n");
  EXPECT_EQ(trace.eligible[7], 900s);
  EXPECT_EQ(trace.unfinished, 1U);
  EXPECT_EQ(tally.other_records, 2U) << "a license, and the end of an array whose tasks are the jobs";
  EXPECT_EQ(trace.header.find("Conversion"), "from pbs");
  EXPECT_EQ(trace.header.find("StartTime"), "Fri Mar 29 08:00:00 CET 2024");
  EXPECT_EQ(trace.header.find_all("Queue"), (std::vector<std::string_view>{"1 workq", "2 low", "3 batch"}));
}

TEST(PbsLog, AJobMayBeginInOneFileAndEndInAnotherInAnyOrder) {
  const std::string first = record("00:00:00", "Q", "7.srv", "queue=workq") +
                            record("00:00:10", "S", "7.srv", std::string(kJob) + "start=1709251210 " + kOnFour);
  const std::string second = "03/02/2024 00:00:10;E;7.srv;" + std::string(kJob) + "start=1709251210 " + kOnFour +
                             "end=1709337610 Exit_status=0\n";
  const std::string expected = "1 0 10 86400 4 -1 -1 4 3600 -1 1 1 1 1 1 -1 -1 -1\n";
  EXPECT_EQ(convert_text({first, second}, {.strict = true}).lines, expected);
  EXPECT_EQ(convert_text({second, first}, {.strict = true}).lines, expected);
  const Converted twice = convert_text({first, second, first, second}, {.strict = true});
  EXPECT_EQ(twice.lines, expected);
  EXPECT_GE(twice.trace.repeated, 1U);
}

TEST(PbsLog, ADeletedJobThatNeverRanIsOneOfStatusFiveWithItsWait) {
  const auto [trace, tally, lines] = convert_text(
      {record("00:00:00", "Q", "7.srv", "queue=workq") + record("00:01:00", "D", "7.srv", "requestor=a@b") +
       record("00:00:30", "Q", "8.srv", std::string(kJob) + kOnFour) +
       record("00:02:00", "A", "8.srv", "Job deleted as result of dependency on job 7.srv") +
       record("00:02:00", "D", "9.srv", "requestor=a@b")});
  EXPECT_EQ(lines,
            "1 0 60 -1 -1 -1 -1 -1 -1 -1 5 -1 -1 -1 1 -1 -1 -1\n"
            "2 0 120 -1 -1 -1 -1 4 3600 -1 5 1 1 1 1 -1 -1 -1\n");
  EXPECT_EQ(tally.without_submit, 1U) << "the log begins after 9 was submitted";
}

TEST(PbsLog, ARecordOfAJobThatWasDeletedWhileItWaitedDoesNotMakeItRun) {
  const auto [trace, tally, lines] =
      convert_text({record("00:00:00", "Q", "7.srv", std::string(kJob) + kOnFour) +
                    record("00:01:00", "D", "7.srv", "requestor=a@b") +
                    record("00:01:00", "E", "7.srv", std::string(kJob) + "start=0 end=1709251260 Exit_status=271")});
  EXPECT_EQ(trace.records.size(), 1U);
  EXPECT_EQ(trace.records.at(0).status, 5);
  EXPECT_EQ(trace.records.at(0).wait, 60s);
  EXPECT_EQ(trace.records.at(0).run, Duration{-1s});
}

TEST(PbsLog, TorquesRerunHasNoAttributesAndEndsTheRun) {
  const auto [trace, tally, lines] =
      convert_text({record("00:00:10", "S", "7.srv", std::string(kJob) + "start=1709251210 exec_host=n1/0-3") +
                    record("00:01:00", "R", "7.srv") +
                    record("00:02:00", "S", "7.srv", std::string(kJob) + "start=1709251320 exec_host=n1/0-3") +
                    record("00:04:00", "E", "7.srv",
                           std::string(kJob) + "start=1709251320 exec_host=n1/0-3 end=1709251440 Exit_status=0")});
  EXPECT_EQ(lines,
            "1 0 10 50 4 -1 -1 -1 -1 -1 0 1 1 1 1 -1 -1 -1\n"
            "2 60 60 120 4 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1\n");
}

TEST(PbsLog, AnArrayIsOneJobWhereNoneOfItsTasksHasARecord) {
  const std::string queued = record("00:00:00", "Q", "7[].srv", std::string(kJob) + "array_indices=0-9 " + kOnFour);
  EXPECT_EQ(convert_text({queued + record("00:01:00", "D", "7[].srv")}).lines,
            "1 0 60 -1 -1 -1 -1 4 3600 -1 5 1 1 1 1 -1 -1 -1\n");
  const Converted with_task =
      convert_text({queued + record("00:00:10", "S", "7[10].srv", std::string(kJob) + "start=1709251210 " + kOnFour) +
                    record("00:00:20", "E", "7[10].srv",
                           std::string(kJob) + "start=1709251210 end=1709251220 Exit_status=0 " + kOnFour) +
                    record("00:00:30", "D", "7[9].srv") + record("00:01:00", "D", "7[].srv")});
  EXPECT_EQ(with_task.lines,
            "1 0 30 -1 -1 -1 -1 4 3600 -1 5 1 1 1 1 -1 -1 -1\n"
            "2 0 10 10 4 -1 -1 4 3600 -1 1 1 1 1 1 -1 -1 -1\n")
      << "task 9, which waited as the array did, stands before task 10";
}

TEST(PbsLog, ValuesMayBeQuotedAndHaveBlanks) {
  const auto [trace, tally, lines] = convert_text(
      {record("00:02:00", "E", "7.srv",
              "user=ann account=\"a 'b' c\" jobname=my own job queue='x \"y\" z' ctime=1709251200 start=1709251210 " +
                  std::string(kOnFour) + "end=1709251220 Exit_status=0")},
      {.strict = true});
  EXPECT_EQ(trace.records.at(0).run, 10s);
  EXPECT_EQ(trace.header.find("Queue"), "1 x \"y\" z");
}

TEST(PbsLog, RunTimeIsWithoutSuspensionsAlsoOneThatLastsToTheEnd) {
  const auto [trace, tally, lines] =
      convert_text({record("00:00:10", "S", "7.srv", std::string(kJob) + "start=1709251210 " + kOnFour) +
                    record("00:01:00", "z", "7.srv", "resources_used.walltime=00:00:50") +
                    record("00:02:00", "r", "7.srv") + record("00:03:00", "z", "7.srv", "") +
                    record("00:04:00", "E", "7.srv",
                           std::string(kJob) + "start=1709251210 end=1709251440 Exit_status=271 " + kOnFour)});
  EXPECT_EQ(trace.records.at(0).run, 110s);
}

TEST(PbsLog, DamagedRecordsAreCountedAndShown) {
  const std::string good =
      record("00:02:00", "E", "7.srv", std::string(kJob) + "start=1709251210 end=1709251220 Exit_status=0 " + kOnFour);
  const auto [trace, tally, lines] =
      convert_text({"03/01/2024 00:00\n" + good + record("00:02:00", "E", "8.srv", "ctime=1709251200 start=soon") +
                    "13/01/2024 00:00:00;E;9.srv;ctime=1709251200\n" + record("00:02:00", "E", "", "ctime=1")});
  EXPECT_EQ(trace.records.size(), 1U);
  EXPECT_EQ(tally.broken, 4U);
  EXPECT_EQ(tally.broken_messages.at(1), "20240301:3: attribute start: expected seconds since 1970, found 'soon'");
  EXPECT_NE(message_of<InputError>([] {
              (void)convert_text({"03/01/2024 00:00\n"});
            }).find("no jobs: expected records of PBS such as E, S and Q, found 20240301:1: expected a record such as"),
            std::string::npos);
  EXPECT_THROW((void)convert_text({"03/01/2024 00:00\n" + good}, {.strict = true}), InputError);
}

}  // namespace
}  // namespace replay::pbs
