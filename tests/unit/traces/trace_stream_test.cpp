// Tests of a trace and its side file as one stream: found, written, refused and replaced together.
#include "traces/trace_stream.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;

using test::job_line;
using test::load;
using test::memory_source;
using test::message_of;
using test::text_of;
using test::write_text;

class TraceStream : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::vector<TraceEntry> read(TraceReader reader) {
    std::vector<TraceEntry> entries;
    for (TraceEntry entry; reader.next(entry);) entries.push_back(entry);
    return entries;
  }

  static TraceEntry plain(int number) { return {test::read_records(job_line(number)).at(0), {}}; }
  static TraceEntry with_traits(int number) {
    TraceEntry entry = plain(number);
    entry.traits.cpu_use = number / 10.0;
    return entry;
  }

  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator{}));
  }

  TemporaryFolder folder_;
};

TEST_F(TraceStream, TheSideFileBesideATraceIsFound) {
  write_text(path("t.swf"), job_line(1) + job_line(2) + job_line(3));
  write_text(path("t.jobs.csv"), "job,cpu_util\n1,0.1\n3,0.3\n7,0.7\n");
  TraceReader reader(path("t.swf"));
  TraceEntry entry;
  for (const std::optional<double> expected : {std::optional{0.1}, std::optional<double>{}, std::optional{0.3}}) {
    ASSERT_TRUE(reader.next(entry));
    EXPECT_EQ(entry.traits.cpu_use, expected) << entry.record.job;
  }
  EXPECT_FALSE(reader.next(entry));
  EXPECT_EQ(reader.unknown_jobs().count, 1U);
}

TEST_F(TraceStream, ATraceWithoutSideFileHasNoTraits) {
  write_text(path("t.swf"), job_line(1));
  TraceReader reader(path("t.swf"));
  EXPECT_FALSE(reader.job_table().has_value());
  EXPECT_TRUE(read(std::move(reader)).at(0).traits.empty());
}

TEST_F(TraceStream, ANamedSideFileIsTheOneAndHasToBeThere) {
  write_text(path("t.swf"), job_line(1));
  write_text(path("t.jobs.csv"), "job,cpu_util\n1,0.1\n");
  write_text(path("other.csv"), "job,cpu_util\n1,0.9\n");
  EXPECT_EQ(read(TraceReader(path("t.swf"), {.job_table = path("other.csv")})).at(0).traits.cpu_use, 0.9);
  EXPECT_THROW(TraceReader(path("t.swf"), {.job_table = path("missing.csv")}), InputError);
  EXPECT_EQ(
      read(TraceReader(memory_source("1 0 -1 1 1 -1 -1 1 1 -1 1 1 1 1 1 1 -1 -1\n"), {.job_table = path("other.csv")}))
          .at(0)
          .traits.cpu_use,
      0.9);
}

TEST_F(TraceStream, ABrokenSideFileStopsTheTrace) {
  write_text(path("t.swf"), job_line(1));
  write_text(path("t.jobs.csv"), "job,cpu_util\n1,2\n");
  const std::string message = message_of<InputError>([&] { read(TraceReader(path("t.swf"))); });
  EXPECT_NE(message.find("t.jobs.csv:2: column cpu_util"), std::string::npos) << message;
}

TEST_F(TraceStream, WhatIsWrittenIsReadBackWithItsTraits) {
  for (const char* name : {"t.swf", "t.swf.gz"}) {
    SwfHeader header("x");
    header.add("Version", "2.2");
    TraceWriter writer(path(name), {.job_table = std::nullopt, .force = true});
    writer.write(header);
    writer.write(plain(1));
    writer.write_comments({"; between"});
    writer.write(with_traits(2));
    EXPECT_EQ(writer.records(), 2U);
    writer.close();
    const auto entries = read(TraceReader(path(name)));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_TRUE(entries[0].traits.empty());
    EXPECT_EQ(entries[1].traits.cpu_use, 0.2);
    EXPECT_EQ(entries[1].record, plain(2).record);
  }
  EXPECT_NE(text_of(path("t.swf")).find("\n; between\n"), std::string::npos);
  const std::string table = text_of(path("t.jobs.csv"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 2) << "a header row, and a row for the job that needs one: " << table;
}

TEST_F(TraceStream, NoSideFileIsMadeForJobsThatDeclareNothing) {
  TraceWriter writer(path("t.swf"));
  writer.write(plain(1));
  writer.close();
  EXPECT_EQ(files(), 1U);
}

TEST_F(TraceStream, FilesAppearUnderTheirNamesOnlyWhenTheyAreWhole) {
  TraceWriter writer(path("t.swf"));
  writer.write(with_traits(1));
  EXPECT_FALSE(std::filesystem::exists(path("t.swf")));
  EXPECT_FALSE(std::filesystem::exists(path("t.jobs.csv")));
  writer.close();
  EXPECT_TRUE(std::filesystem::exists(path("t.swf")));
  EXPECT_TRUE(std::filesystem::exists(path("t.jobs.csv")));
  EXPECT_EQ(files(), 2U);
}

TEST_F(TraceStream, ALinkThatWaitsUnderATemporaryNameIsNotWrittenThrough) {
  write_text(path("precious"), "data\n");
  for (const std::string& name : {fmt::format(".{}-t.swf", ::getpid()), fmt::format("t.swf.{}", ::getpid())})
    std::filesystem::create_symlink(path("precious"), path(name));
  TraceWriter writer(path("t.swf"));
  writer.write(plain(1));
  writer.close();
  EXPECT_EQ(text_of(path("precious")), "data\n");
  EXPECT_EQ(read(TraceReader(path("t.swf"))).size(), 1U);
}

TEST_F(TraceStream, AToolThatFailsLeavesNothingAndKeepsWhatWasThere) {
  write_text(path("t.swf"), "old\n");
  write_text(path("t.jobs.csv"), "old table\n");
  {
    TraceWriter writer(path("t.swf"), {.job_table = std::nullopt, .force = true});
    writer.write(with_traits(1));
  }
  EXPECT_EQ(text_of(path("t.swf")), "old\n");
  EXPECT_EQ(text_of(path("t.jobs.csv")), "old table\n");
  EXPECT_EQ(files(), 2U);
}

TEST_F(TraceStream, FilesThatExistAreKeptUnlessForced) {
  write_text(path("t.swf"), "old\n");
  const auto refusal = [&](const std::string& trace) {
    return message_of<InputError>([&] { TraceWriter writer(path(trace)); });
  };
  EXPECT_NE(refusal("t.swf").find("t.swf: exists already: --force"), std::string::npos);
  write_text(path("u.jobs.csv"), "old table\n");
  EXPECT_NE(refusal("u.swf").find("u.jobs.csv: exists already"), std::string::npos) << "the side file counts as well";
  EXPECT_EQ(text_of(path("t.swf")), "old\n");
  TraceWriter writer(path("t.swf"), {.job_table = std::nullopt, .force = true});
  writer.write(plain(1));
  writer.close();
  EXPECT_EQ(read(TraceReader(path("t.swf"))).size(), 1U);
}

TEST_F(TraceStream, AFolderIsNeverReplaced) {
  std::filesystem::create_directory(path("d.swf"));
  EXPECT_NE(message_of<InputError>([&] { TraceWriter writer(path("d.swf")); }).find("directory"), std::string::npos);
}

TEST_F(TraceStream, ANewTraceWithoutTraitsTakesTheOldSideFileAway) {
  write_text(path("t.swf"), job_line(1));
  write_text(path("t.jobs.csv"), "job,cpu_util\n1,0.1\n");
  TraceWriter writer(path("t.swf"), {.job_table = std::nullopt, .force = true});
  writer.write(plain(1));
  writer.close();
  EXPECT_FALSE(std::filesystem::exists(path("t.jobs.csv"))) << "it was about other jobs";
}

TEST_F(TraceStream, ACompressedSideFileIsFoundAndReplacedAsAPlainOneIs) {
  write_text(path("t.swf"), job_line(1));
  const auto compressed = path("t.jobs.csv.gz");
  {
    JobTableWriter table{open_sink(compressed)};
    table.write(1, with_traits(1).traits);
    table.finish();
    table.close();
  }
  EXPECT_EQ(read(TraceReader(path("t.swf"))).at(0).traits.cpu_use, 0.1);
  const std::string refusal =
      message_of<InputError>([&] { TraceWriter writer(path("t.swf"), {.job_table = std::nullopt}); });
  EXPECT_NE(refusal.find("exists already"), std::string::npos) << refusal;
  TraceWriter writer(path("t.swf"), {.job_table = std::nullopt, .force = true});
  writer.write(plain(1));
  writer.close();
  EXPECT_FALSE(std::filesystem::exists(compressed)) << "it was about other jobs";
}

TEST_F(TraceStream, ATraceCanBeReplacedByWhatIsMadeOfIt) {
  write_text(path("t.swf"), job_line(1) + job_line(2));
  write_text(path("t.jobs.csv"), "job,cpu_util\n2,0.2\n");
  TraceReader reader(path("t.swf"));
  TraceWriter writer(path("t.swf"), {.job_table = std::nullopt, .force = true});
  for (TraceEntry entry; reader.next(entry);) {
    entry.record.job += 10;
    writer.write(entry);
  }
  writer.close();
  const auto entries = read(TraceReader(path("t.swf")));
  EXPECT_EQ(entries.at(1).record.job, 12);
  EXPECT_EQ(entries.at(1).traits.cpu_use, 0.2);
}

TEST_F(TraceStream, StandardOutputNeedsToBeToldWhereTheSideFileGoes) {
  testing::internal::CaptureStdout();
  std::string message;
  {
    TraceWriter writer("-");
    message = message_of<UsageError>([&] { writer.write(with_traits(1)); });
  }
  testing::internal::GetCapturedStdout();
  EXPECT_NE(message.find("--jobs-to"), std::string::npos) << message;
  EXPECT_NE(message.find("--output"), std::string::npos) << message;

  testing::internal::CaptureStdout();
  TraceWriter writer("-", {.job_table = path("side.csv")});
  writer.write(with_traits(1));
  writer.close();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), job_line(1));
  EXPECT_NE(text_of(path("side.csv")).find("\n1,"), std::string::npos);
}

TEST_F(TraceStream, PipesAreWrittenAndReadAsTheyCome) {
  ASSERT_EQ(::mkfifo(path("p.swf").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(path("side").c_str(), 0600), 0);
  std::thread producer([&] {
    TraceWriter writer(path("p.swf"), {.job_table = path("side")});
    for (int job = 1; job <= 5; ++job) writer.write(with_traits(job));
    writer.close();
  });
  // The writer opens the side file with its first row, the reader after the first record, so neither waits for the
  // other.
  std::string trace, table;
  std::thread side([&] { table = text_of(path("side")); });
  trace = text_of(path("p.swf"));
  producer.join();
  side.join();
  EXPECT_EQ(test::read_records(trace).size(), 5U);
  EXPECT_EQ(std::ranges::count(table, '\n'), 6);
  EXPECT_EQ(files(), 2U) << "the pipes are still there, and nothing else";
}

TEST_F(TraceStream, RecordsWithoutANumberHaveNoTraits) {
  write_text(path("t.swf"), job_line(-1) + job_line(1));
  write_text(path("t.jobs.csv"), "job,cpu_util\n1,0.1\n");
  const auto entries = read(TraceReader(path("t.swf")));
  EXPECT_TRUE(entries.at(0).traits.empty());
  EXPECT_EQ(entries.at(1).traits.cpu_use, 0.1);
}

TEST_F(TraceStream, JobsOfAWorkloadAreWhatTheSideFileMakesOfThem) {
  write_text(path("t.swf"), job_line(1, {{6, "25"}}) + job_line(2, {{6, "25"}}) + job_line(3));
  write_text(path("t.jobs.csv"), "job,flexibility,cpu_util,ov\n1,rigid,0.9,0.5\n3,moldable,,\n");
  const LoadedWorkload loaded = read_workload(path("t.swf"));
  const auto& jobs = loaded.workload.jobs;
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].job.flexibility, Flexibility::kRigid);
  EXPECT_DOUBLE_EQ(jobs[0].truth.behaviour.cpu_use, 0.9) << "the side file goes before the log";
  EXPECT_DOUBLE_EQ(jobs[0].truth.behaviour.network_overhead, 0.5);
  EXPECT_TRUE(jobs[0].has_network_overhead);
  EXPECT_EQ(jobs[1].job.flexibility, Job{}.flexibility);
  EXPECT_DOUBLE_EQ(jobs[1].truth.behaviour.cpu_use, 0.25);
  EXPECT_FALSE(jobs[1].has_network_overhead);
  EXPECT_EQ(jobs[2].job.flexibility, Flexibility::kMoldable);
  EXPECT_FALSE(jobs[2].has_network_overhead) << "an empty cell states nothing";
  for (const TracedJob& job : jobs) EXPECT_EQ(job.job.declared, job.truth.behaviour) << "what is declared is true";
  EXPECT_EQ(loaded.report.count("job-table"), 2U);
}

// A cancellation counts from the submission, so the wait until the job became eligible is no longer in it.
TEST_F(TraceStream, AJobWaitsFromWhenItIsEligible) {
  write_text(path("t.swf"), job_line(1, {{2, "0"}}) + job_line(2, {{2, "10"}, {3, "500"}, {4, "-1"}, {11, "5"}}) +
                                job_line(3, {{2, "20"}}));
  write_text(path("t.jobs.csv"), "job,eligible\n1,15\n2,300.5\n");
  const LoadedWorkload loaded = read_workload(path("t.swf"), {.cancelled = Cancelled::kHonour});
  const auto& jobs = loaded.workload.jobs;
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].job.submitted, Instant{15s});
  EXPECT_EQ(jobs[1].job.id, JobId{3}) << "jobs come in the order in which they wait";
  EXPECT_EQ(jobs[2].job.submitted, Instant{310'500ms});
  EXPECT_EQ(jobs[2].cancelled_after, Duration{199'500ms});
  EXPECT_EQ(loaded.report.count("eligible"), 2U);
  EXPECT_EQ(loaded.report.count("out-of-order"), 0U) << "the log is in order";
}

TEST_F(TraceStream, AJobWaitsFromItsSubmissionOnRequest) {
  write_text(path("t.swf"), job_line(1) + job_line(2));
  write_text(path("t.jobs.csv"), "job,eligible\n1,15\n");
  const LoadedWorkload loaded = read_workload(path("t.swf"), {.queue_from = QueueFrom::kSubmit});
  EXPECT_EQ(loaded.workload.jobs[0].job.submitted, Instant{10s});
  ASSERT_NE(loaded.report.find("eligible"), nullptr);
  EXPECT_EQ(loaded.report.find("eligible")->action, "ignored");
}

// The end of the job that it follows may come earlier in a simulation than in the log, so it is not held until then.
TEST_F(TraceStream, AJobThatFollowsAnotherOneIsNotHeldUntilItWasEligibleInTheLog) {
  write_text(path("t.swf"), job_line(1) + job_line(2, {{3, "500"}, {4, "-1"}, {11, "5"}, {17, "1"}, {18, "3"}}));
  write_text(path("t.jobs.csv"), "job,eligible\n2,300\n");
  const LoadedWorkload loaded = read_workload(path("t.swf"), {.cancelled = Cancelled::kHonour, .closed_loop = true});
  EXPECT_EQ(loaded.workload.jobs[1].job.submitted, Instant{20s});
  EXPECT_EQ(loaded.workload.jobs[1].follows, JobId{1});
  EXPECT_EQ(loaded.workload.jobs[1].think_time, Duration{3s});
  EXPECT_EQ(loaded.workload.jobs[1].cancelled_after, Duration{200s}) << "from when it comes into the queue";
}

TEST(TraceEntry, TheQueueSeesAJobFromWhenItWasEligibleAndItsStartStays) {
  TraceEntry entry;
  entry.record.submit = 10s;
  entry.record.wait = 100s;
  entry.traits.eligible = 30s;
  wait_from_eligible(entry);
  EXPECT_EQ(entry.record.submit, 40s);
  EXPECT_EQ(entry.record.wait, 70s);
  wait_from_eligible(entry);
  EXPECT_EQ(entry.record.submit, 40s) << "once";
  entry.traits.eligible = 300s;
  wait_from_eligible(entry);
  EXPECT_EQ(entry.record.submit + entry.record.wait, 110s);
}

TEST(TraceWriter, AFolderThatIsMissingIsNamedAsItWasGiven) {
  const std::string message = test::message_of<InputError>([] { const TraceWriter writer("missing-folder/x.swf"); });
  EXPECT_EQ(message.find("missing-folder/x.swf: "), 0U) << message;
}

// The side file has rows for jobs 7 and 9; the trace ends before them.
TEST_F(TraceStream, RowsForJobsThatAreNotInTheTraceAreSaidAtItsEndAndStrictlyRefused) {
  write_text(path("t.swf"), job_line(1) + job_line(2));
  write_text(path("t.jobs.csv"), "job,cpu_util\n9,0.9\n1,0.1\n7,0.7\n");
  TraceReader reader(path("t.swf"));
  TraceEntry entry;
  ASSERT_TRUE(reader.next(entry) && reader.next(entry));
  EXPECT_TRUE(odd_line_report(reader).empty()) << "what comes is not known yet";
  ASSERT_FALSE(reader.next(entry));
  ASSERT_EQ(odd_line_report(reader).size(), 1U);
  EXPECT_EQ(odd_line_report(reader).front(), "ignored: 2 rows of " + path("t.jobs.csv") +
                                                 " for jobs that are not in the trace, the first: job 9 in line 2");
  const LoadedWorkload loaded = read_workload(path("t.swf"));
  EXPECT_EQ(loaded.report.count("job-table-unknown"), 2U);
  const std::string said =
      test::message_of<InputError>([&] { (void)read_workload(TraceReader(path("t.swf"), {.swf = {.strict = true}})); });
  EXPECT_EQ(said, path("t.jobs.csv") + ":2: expected a job of the trace, found 9, which it does not have");
}

}  // namespace
}  // namespace replay
