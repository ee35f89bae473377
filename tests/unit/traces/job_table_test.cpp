// Tests of the side file: it is read back as written, rows are found in any order, and each kind of error names its
// line and column.
#include "traces/job_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using test::memory_source;
using test::message_of;
using test::string_sink;

constexpr const char* kAllColumns =
    "job,flexibility,least_processes,most_processes,sizes,speedup,cpu_util,ov,user_priority,political_priority,sl_scr,"
    "sl_sno,pair_key,eligible\n";

JobTraits full_traits() {
  JobTraits traits;
  traits.flexibility = Flexibility::kMoldable;
  traits.least = 2;
  traits.most = 16;
  traits.sizes = {2, 4, 16};
  traits.speedup = SpeedupCurve{DowneySpeedup{10.0 / 3, 1.0 / 7}};
  traits.cpu_use = 0.1;
  traits.network_overhead = 1e-17;
  traits.user_priority = 1;
  traits.political_priority = -std::numeric_limits<double>::infinity();
  traits.same_cpu_slowdown = 1.2345678901234567;
  traits.same_node_slowdown = 0.9;
  traits.pair_key = std::numeric_limits<std::uint64_t>::max();
  traits.eligible = std::chrono::microseconds{3'590'500'000};
  return traits;
}

// Jobs with a single member each, so that a value read into another column is noticed.
std::vector<JobTraits> single_traits() {
  const JobTraits full = full_traits();
  std::vector<JobTraits> list(13);
  list[0].flexibility = full.flexibility;
  list[1].least = full.least;
  list[2].most = full.most;
  list[3].sizes = full.sizes;
  list[4].speedup = full.speedup;
  list[5].cpu_use = full.cpu_use;
  list[6].network_overhead = full.network_overhead;
  list[7].user_priority = full.user_priority;
  list[8].political_priority = full.political_priority;
  list[9].same_cpu_slowdown = full.same_cpu_slowdown;
  list[10].same_node_slowdown = full.same_node_slowdown;
  list[11].pair_key = full.pair_key;
  list[12].eligible = full.eligible;
  return list;
}

JobTableReader reader(std::string_view text) { return JobTableReader(memory_source(text, "t.jobs.csv")); }

std::string complaint(std::string_view text, std::int64_t job = 1) {
  return message_of<InputError>([&] {
    JobTableReader table = reader(text);
    (void)table.find(job);
    (void)table.unused();
  });
}

TEST(JobTable, WhatIsWrittenIsReadBackExactly) {
  std::vector<JobTraits> rows = single_traits();
  rows.push_back(full_traits());
  rows.emplace_back();
  std::string text;
  JobTableWriter writer(string_sink(text));
  for (std::size_t i = 0; i < rows.size(); ++i) writer.write(static_cast<std::int64_t>(i), rows[i]);
  writer.close();
  EXPECT_TRUE(text.starts_with(kAllColumns)) << text;
  JobTableReader table = reader(text);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(table.find(static_cast<std::int64_t>(i)), rows[i]) << i;
  EXPECT_EQ(table.unused().count, 0U);
}

TEST(JobTable, EveryFlexibilityAndCurveIsReadBack) {
  std::string text;
  JobTableWriter writer(string_sink(text));
  std::vector<JobTraits> rows(3);
  rows[0].flexibility = Flexibility::kRigid;
  rows[0].speedup = SpeedupCurve{};
  rows[1].flexibility = Flexibility::kMoldable;
  rows[1].speedup = SpeedupCurve{ThreePointSpeedup{.optimum = 8}};
  rows[2].flexibility = Flexibility::kMalleable;
  rows[2].speedup = SpeedupCurve{ThreePointSpeedup{.optimum = 8, .efficiency = {1, 0.5, 0.25}}};
  for (std::size_t i = 0; i < rows.size(); ++i) writer.write(static_cast<std::int64_t>(i), rows[i]);
  writer.close();
  JobTableReader table = reader(text);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(table.find(static_cast<std::int64_t>(i)), rows[i]) << text;
}

TEST(JobTable, ManyRowsPassThroughTheBuffer) {
  std::string text;
  JobTableWriter writer(string_sink(text));
  JobTraits traits;
  for (int job = 0; job < 20'000; ++job) {
    traits.cpu_use = job / 20'000.0;
    writer.write(job, traits);
  }
  writer.close();
  JobTableReader table = reader(text);
  for (int job = 0; job < 20'000; ++job) ASSERT_EQ(table.find(job).value().cpu_use, job / 20'000.0);
}

TEST(JobTable, RowsAreFoundInWhateverOrderTheyStand) {
  JobTableReader table = reader("job,cpu_util\n3,0.3\n1,0.1\n2,0.2\n9,0.9\n");
  EXPECT_EQ(table.find(1).value().cpu_use, 0.1);
  EXPECT_EQ(table.find(4), std::nullopt) << "there is none";
  EXPECT_EQ(table.find(2).value().cpu_use, 0.2);
  EXPECT_EQ(table.find(3).value().cpu_use, 0.3);
  EXPECT_EQ(table.unused().count, 1U) << "job 9";
}

TEST(JobTable, ColumnsMayBeFewAndInAnyOrder) {
  JobTableReader table = reader("job,ov,flexibility\n1,0.5,rigid\n2,,\n");
  const JobTraits first = table.find(1).value();
  EXPECT_EQ(first.network_overhead, 0.5);
  EXPECT_EQ(first.flexibility, Flexibility::kRigid);
  EXPECT_TRUE(table.find(2).value().empty()) << "an empty cell is not stated";
}

TEST(JobTable, CellsMayBeQuotedOrBehindAnApostropheAsSpreadsheetsHaveThem) {
  JobTableReader reader(
      memory_source("\"job\",\"flexibility\",\"political_priority\"\n\"1\",\"rigid\",\"'-inf\"\n", "t"));
  const auto traits = reader.find(1);
  ASSERT_TRUE(traits);
  EXPECT_EQ(traits->flexibility, Flexibility::kRigid);
  EXPECT_EQ(traits->political_priority, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(message_of<InputError>([] { JobTableReader{memory_source("job,\"sizes\n", "t")}; }),
            "t:1: expected a closing quotation mark, found the end of the line");
}

TEST(JobTable, LineEndsOfOtherSystemsAndAMissingLastOneAreFine) {
  JobTableReader table = reader("job,ov\r\n1,0.5\r\n2,0.25");
  EXPECT_EQ(table.find(1).value().network_overhead, 0.5);
  EXPECT_EQ(table.find(2).value().network_overhead, 0.25);
}

TEST(JobTable, AHeaderRowThatIsWrongIsNamed) {
  EXPECT_EQ(complaint(""), "t.jobs.csv: expected a header row that begins with 'job', found nothing");
  EXPECT_EQ(complaint("number,ov\n"), "t.jobs.csv:1: column 1: expected 'job', found 'number'");
  EXPECT_EQ(complaint("job,ov,ov\n"), "t.jobs.csv:1: column ov: expected each column once, found 'ov'");
  const std::string unknown = complaint("job,ov,color\n");
  EXPECT_NE(unknown.find("t.jobs.csv:1: column 3: expected one of flexibility, least_processes"), std::string::npos);
  EXPECT_NE(unknown.find("found 'color'"), std::string::npos) << unknown;
  EXPECT_NE(complaint("1,0.5\n").find("expected 'job', found '1'"), std::string::npos) << "no header row at all";
}

TEST(JobTable, RowsThatAreWrongAreNamed) {
  const std::string head = "job,cpu_util\n";
  EXPECT_EQ(complaint(head + "x,0.5\n"), "t.jobs.csv:2: column job: expected a job number, found 'x'");
  EXPECT_EQ(complaint(head + "-1,0.5\n"), "t.jobs.csv:2: column job: expected a job number, found '-1'");
  EXPECT_EQ(complaint(head + "99999999999999999999,0.5\n"),
            "t.jobs.csv:2: column job: expected a job number, found '99999999999999999999'");
  EXPECT_EQ(complaint(head + "1\n"), "t.jobs.csv:2: expected 2 cells as in the header row, found 1");
  EXPECT_EQ(complaint(head + "1,0.5,7\n"), "t.jobs.csv:2: expected 2 cells as in the header row, found 3");
  EXPECT_EQ(complaint(head + "1,0.5\n2,0.5\n1,0.6\n"), "t.jobs.csv:4: column job: expected each job once, found '1'");
  EXPECT_EQ(complaint("job,least_processes,most_processes\n1,8,4\n"),
            "t.jobs.csv:2: column most_processes: expected at least least_processes, 8, found '4'");
  EXPECT_NE(
      complaint(head + "1," + std::string(11'000'000, '5') + "\n").find("t.jobs.csv:2: column job: expected at most"),
      std::string::npos);
}

TEST(JobTable, CellsThatAreWrongAreNamedWithWhatWasExpected) {
  struct Case {
    const char *column, *cell, *expected;
  };
  constexpr Case kCases[] = {{"flexibility", "rubber", "rigid, moldable or malleable"},
                             {"least_processes", "0", "a count >= 1"},
                             {"least_processes", "2.5", "a count >= 1"},
                             {"most_processes", "3000000000", "a count >= 1"},
                             {"sizes", "4|2", "ascending counts >= 1 such as 4|8|16"},
                             {"sizes", "4|4", "ascending counts >= 1 such as 4|8|16"},
                             {"sizes", "4|", "ascending counts >= 1 such as 4|8|16"},
                             {"sizes", "0|4", "ascending counts >= 1 such as 4|8|16"},
                             {"speedup", "amdahl:0.9", "linear, downey:a=A:sigma=S or three-point:n=N"},
                             {"cpu_util", "1.5", "a number 0..1"},
                             {"cpu_util", "nan", "a number 0..1"},
                             {"cpu_util", " 0.5", "a number 0..1"},
                             {"ov", "-0.1", "a number 0..1"},
                             {"ov", "inf", "a number 0..1"},
                             {"user_priority", "high", "a number 0..1"},
                             {"user_priority", "-inf", "a number 0..1"},
                             {"political_priority", "2", "a number 0..1, or -inf"},
                             {"sl_scr", "0", "a number 0.001..1000000"},
                             {"sl_scr", "1e-308", "a number 0.001..1000000"},
                             {"sl_sno", "-1", "a number 0.001..1000000"},
                             {"pair_key", "-1", "a whole number of 64 bits"},
                             {"pair_key", "18446744073709551616", "a whole number of 64 bits"},
                             {"eligible", "-1", "seconds from 0 to 10000000000"},
                             {"eligible", "2024-05-06", "seconds from 0 to 10000000000"}};
  for (const Case& c : kCases)
    EXPECT_EQ(
        complaint(std::string("job,") + c.column + "\n1," + c.cell + "\n"),
        std::string("t.jobs.csv:2: column ") + c.column + ": expected " + c.expected + ", found '" + c.cell + "'");
}

TEST(JobTable, LiesBesideItsTrace) {
  EXPECT_EQ(job_table_beside("dir/synth.swf"), "dir/synth.jobs.csv");
  EXPECT_EQ(job_table_beside("dir/synth.swf.gz"), "dir/synth.jobs.csv");
  EXPECT_EQ(job_table_beside("log.txt"), "log.txt.jobs.csv");
  EXPECT_EQ(job_table_beside("-"), std::nullopt);
}

// The example in docs/formats/job-table.md.
TEST(FormatPage, ItsJobTableIsTrue) {
  std::ifstream page(std::filesystem::path(REPLAY_SOURCE_DIR) / "docs/formats/job-table.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  for (const std::string_view column : job_table_columns())
    EXPECT_NE(text.find("| `" + std::string(column) + "` |"), std::string::npos) << column;
  const std::size_t from = text.find("```\njob,");
  ASSERT_NE(from, std::string::npos);
  const std::string example = text.substr(from + 4, text.find("```", from + 4) - from - 4);
  JobTableReader table = reader(example);
  const JobTraits first = table.find(1).value();
  EXPECT_EQ(first.flexibility, Flexibility::kMoldable);
  EXPECT_EQ(first.speedup, (SpeedupCurve{ThreePointSpeedup{.optimum = 4}}));
  EXPECT_EQ(first.least, 2);
  EXPECT_EQ(first.most, 8);
  const JobTraits second = table.find(2).value();
  EXPECT_EQ(second.sizes, (std::vector<ProcessCount>{2, 4, 16}));
  EXPECT_EQ(second.political_priority, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(table.find(3), std::nullopt);
  EXPECT_EQ(table.find(4).value().flexibility, Flexibility::kRigid);
}

}  // namespace
}  // namespace replay
