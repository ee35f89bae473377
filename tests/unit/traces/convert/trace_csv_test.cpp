// Tests of the CSV of a trace: it is read back as written, columns may move, and errors name line and column.
#include "traces/convert/trace_csv.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "tests/support/archive_logs.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::memory_source;
using test::message_of;
using test::string_sink;

std::vector<TraceEntry> read(const std::string& text) {
  TraceCsvReader reader(memory_source(text, "t.csv"));
  std::vector<TraceEntry> entries;
  for (TraceEntry entry; reader.next(entry);) entries.push_back(entry);
  return entries;
}

TEST(TraceCsv, EveryFieldAndTraitComesBack) {
  TraceEntry entry;
  entry.record = test::read_records("1 2.5 3 4 5 6.25 7.5 8 9 10 1 12 13 14 0 16 17 18\n").at(0);
  entry.traits.flexibility = Flexibility::kMoldable;
  entry.traits.sizes = {2, 4};
  entry.traits.speedup = SpeedupCurve{DowneySpeedup{10, 0.5}};
  entry.traits.pair_key = 7;
  TraceEntry bare;
  bare.record.job = 2, bare.record.submit = 10s;
  SwfHeader header;
  header.add("Acknowledge", "somebody, and\nsomebody else");
  std::string text;
  TraceCsvWriter writer(string_sink(text));
  writer.write(header, true);
  writer.write(entry);
  writer.write(bare);
  writer.close();
  const std::vector<TraceEntry> back = read(text);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].record, entry.record);
  EXPECT_EQ(back[0].traits, entry.traits);
  EXPECT_EQ(back[1].record, bare.record);
  EXPECT_TRUE(back[1].traits.empty());
  EXPECT_EQ(TraceCsvReader(memory_source(text)).header().lines(), header.lines());
}

TEST(TraceCsv, HeaderLinesAreNoFormulasToASpreadsheetAndComeBack) {
  SwfHeader header;
  header.add_line(";=1+1", 1);
  header.add_line("; Note: three, =cmd|'/c calc'!A1;@SUM(A1),-1,'=2,plain", 2);
  std::string text;
  TraceCsvWriter writer(string_sink(text));
  writer.write(header, true);
  writer.close();
  EXPECT_TRUE(text.starts_with(";'=1+1\n; Note: three,' =cmd|'/c calc'!A1;'@SUM(A1),'-1,''=2,plain\n")) << text;
  EXPECT_EQ(TraceCsvReader(memory_source(text)).header().lines(), header.lines());
}

TEST(TraceCsv, ColumnsMayMoveAndBeMissingAndQuoted) {
  const auto entries = read("\"user\",\"submit_s\",\"job_number\"\n\"3\",20,1\n,30,2\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].record.user, 3);
  EXPECT_EQ(entries[0].record.submit, 20s);
  EXPECT_EQ(entries[1].record.user, -1);
}

// A data frame makes decimals of whole numbers in a column that has empty cells.
TEST(TraceCsv, CountsComeBackFromADataFrame) {
  const auto entries = read(
      "job_number,submit_s,allocated_processors,user,least_processes,flexibility\n1,0.0,4.0,7.0,2.0,malleable\n2,5.5,,,"
      ",\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].record.allocated, 4);
  EXPECT_EQ(entries[0].record.user, 7);
  EXPECT_EQ(entries[0].traits.least, 2);
  EXPECT_THROW((void)read("job_number,submit_s,least_processes\n1,0,2.5\n"), InputError);
}

TEST(TraceCsv, ErrorsNameLineAndColumn) {
  const auto message = [](const std::string& text) { return message_of<InputError>([&] { (void)read(text); }); };
  EXPECT_EQ(message("job_number,submit_s,run_s\n1,0,x y\n"), "t.csv:2: column run_s: expected a number, found 'x y'");
  EXPECT_EQ(message("job_number,submit_s\n1\n"), "t.csv:2: expected 2 cells as in the header row, found 1");
  EXPECT_EQ(message("job_number,submit_s,status\n1,0,1.5\n"),
            "t.csv:2: field 11 (status): expected a whole number, found '1.5'");
  EXPECT_EQ(message("job_number,submit_s,flexibility\n1,0,soft\n"),
            "t.csv:2: column flexibility: expected rigid, moldable or malleable, found 'soft'");
  EXPECT_EQ(message("job_number,run_s\n"), "t.csv:1: header row: expected a column 'submit_s', found none");
  EXPECT_EQ(message("job_number,submit_s,submit_s\n"),
            "t.csv:1: column 3: expected each column once, found 'submit_s' again");
  EXPECT_NE(message("job_number,submit_s,nodes\n").find("column 3: expected one of job_number"), std::string::npos);
  EXPECT_NE(message("; Note: only a header\n").find("found nothing"), std::string::npos);
}

// Every record of the archive's logs survives conversion to CSV and back, twice the same. Without the logs it skips.
TEST(TraceCsv, LogsOfTheArchiveComeBack) {
  const std::filesystem::path folder = test::archive_folder();
  SKIP_WITHOUT(folder);
  const auto to_csv = [](const std::string& path) {
    TraceReader reader(path);
    std::string text;
    TraceCsvWriter writer(string_sink(text));
    writer.write(reader.header(), true);
    for (TraceEntry entry; reader.next(entry);) writer.write(entry);
    writer.close();
    return text;
  };
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (!path.ends_with(".swf.gz")) continue;
    const std::string text = to_csv(path);
    EXPECT_EQ(text, to_csv(path)) << path;
    TraceCsvReader back(memory_source(text, path));
    SwfReader original(path);
    TraceEntry entry;
    SwfRecord record;
    while (original.next(record))
      ASSERT_TRUE(back.next(entry) && entry.record == record) << path << ":" << original.line();
    EXPECT_FALSE(back.next(entry)) << path;
  }
}

}  // namespace
}  // namespace replay
