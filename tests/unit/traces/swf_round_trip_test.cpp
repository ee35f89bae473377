// Tests that a written log is read back unchanged, compressed or not.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"
#include "traces/swf_writer.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::memory_source;
using test::message_of;
using test::read_records;
using test::string_sink;

std::string rewritten(std::string_view text) {
  std::string result;
  SwfReader reader(memory_source(text));
  SwfWriter writer(string_sink(result));
  writer.write(reader.header());
  SwfRecord record;
  while (reader.next(record)) {
    for (const std::string& comment : reader.comments()) writer.write_comment(comment);
    writer.write(record);
  }
  for (const std::string& comment : reader.comments()) writer.write_comment(comment);
  writer.close();
  return result;
}

std::string gzip(std::string_view text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("replay-gzip-{}.gz", ::getpid())).string();
  const auto sink = open_sink(path);
  sink->write(text);
  sink->close();
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  return bytes;
}

TEST(SwfRoundTrip, KeepsTextByteForByteWhereBlanksAreSingle) {
  const std::string text = "; Version: 2.2\n;\n;\tfree text  \n; Note: a\n;       b\n\n" + job_line(1, {{6, "0.25"}}) +
                           "; in the middle\n\n" + job_line(2, {{7, "12.5"}, {9, "2147483647"}}) + ";\n";
  EXPECT_EQ(rewritten(text), text);
}

TEST(SwfRoundTrip, KeepsTheValueOfEveryDecimal) {
  const std::string text = job_line(1, {{2, "0.000001"},
                                        {3, "-0.5"},
                                        {4, "489.00"},
                                        {6, "9999999999.999999"},
                                        {7, "0.1"},
                                        {10, "8999999999999999"},
                                        {18, "1e-3"}});
  const std::string again = rewritten(text);
  EXPECT_EQ(read_records(again), read_records(text));
  EXPECT_EQ(again, job_line(1, {{2, "0.000001"},
                                {3, "-0.5"},
                                {4, "489"},
                                {6, "9999999999.999999"},
                                {7, "0.1"},
                                {10, "8999999999999999"},
                                {18, "0.001"}}));
}

TEST(SwfRoundTrip, MemoryIsNeverWrittenWithAnExponent) {
  const std::string again = rewritten(job_line(1, {{7, "1e15"}, {10, "0.0000001"}}));
  EXPECT_EQ(again, job_line(1, {{7, "1000000000000000"}, {10, "0.0000001"}}));
}

TEST(SwfGzip, IsRecognisedByContentNotByName) {
  const std::string packed = gzip("; MaxProcs: 8\n" + job_line(1));
  SwfReader reader(memory_source(packed, "log.swf"));
  SwfRecord record;
  EXPECT_TRUE(reader.next(record));
  EXPECT_EQ(reader.header().max_procs(), 8);
}

TEST(SwfGzip, ReadsSeveralMembersAndPadding) {
  const std::string packed = gzip(job_line(1)) + gzip(job_line(2)) + std::string(1000, '\0');
  EXPECT_EQ(read_records(packed).size(), 2U);
}

TEST(SwfGzip, CutOffFileIsAnErrorAtWhateverByte) {
  std::string text;
  for (int i = 1; i <= 200; ++i) text += job_line(i);
  const std::string packed = gzip(text);
  for (std::size_t length = 2; length < packed.size(); length += 7)
    EXPECT_EQ(message_of<InputError>([&] { read_records(std::string_view(packed).substr(0, length)); }),
              "log.swf: the gzip data end too early: the file was cut off, copy it again")
        << length;
}

TEST(SwfGzip, DamagedFileIsAnError) {
  std::string packed = gzip(job_line(1) + job_line(2));
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // in the check sum
  EXPECT_NE(message_of<InputError>([&] { read_records(packed); }).find("damaged (incorrect data check)"),
            std::string::npos);
  packed = gzip(job_line(1)) + "more";
  EXPECT_NE(message_of<InputError>([&] { read_records(packed); }).find("other data follow"), std::string::npos);
}

TEST(SwfGzip, CompressedBinaryIsNotSwf) {
  const std::string packed = gzip(std::string_view("a\0b", 3));
  EXPECT_NE(message_of<InputError>([&] { read_records(packed); }).find("not a text file"), std::string::npos);
}

TEST(SwfWriter, WritesFilesPlainAndCompressedByName) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("replay-writer-{}", ::getpid());
  std::filesystem::create_directories(directory);
  for (const char* name : {"a.swf", "a.swf.gz"}) {
    const std::string path = (directory / name).string();
    SwfWriter writer(path);
    SwfRecord record;
    constexpr int kMany = 5000;
    for (int i = 0; i < kMany; ++i) {
      record.job = i;
      writer.write(record);
    }
    writer.close();
    SwfReader reader(path);
    int count = 0;
    for (; reader.next(record); ++count) ASSERT_EQ(record.job, count);
    EXPECT_EQ(count, kMany);
    EXPECT_EQ(std::ifstream(path, std::ios::binary).get() == 0x1f, std::string_view(name).ends_with(".gz"));
  }
  std::filesystem::remove_all(directory);
}

TEST(SwfWriter, SaysWhenTheFileCannotBeWritten) {
  EXPECT_EQ(message_of<InputError>([] { SwfWriter writer("/no/such/a.swf"); }),
            "/no/such/a.swf: cannot be created: No such file or directory");
  EXPECT_NE(message_of<InputError>([] {
              SwfWriter writer("/dev/full");
              writer.write(SwfRecord{});
              writer.close();
            }).find("/dev/full: cannot be written"),
            std::string::npos);
}

}  // namespace
}  // namespace replay
