// Tests of the reader on correct and broken text.
#include "traces/swf_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "scheduler/base/error.hpp"
#include "tests/unit/traces/swf_text.hpp"

namespace replay {
namespace {

using namespace std::chrono_literals;
using test::job_line;
using test::memory_source;
using test::message_of;
using test::read_records;

// The message about the broken line of a log after one correct line.
std::string broken_message(std::string_view line) {
  const std::string text = job_line(1) + std::string(line);
  SwfReader reader(memory_source(text, "log.swf"));
  for (SwfRecord record; reader.next(record);) continue;
  return reader.broken_messages().size() == 1 ? reader.broken_messages()[0] : "expected one broken line";
}

TEST(SwfReader, ReadsTheEighteenFieldsInOrder) {
  const auto records = read_records("1 2 3 4 5 6 7 8 9 10 0 12 13 14 15 16 17 18\n");
  ASSERT_EQ(records.size(), 1U);
  SwfRecord expected;
  expected.job = 1, expected.submit = 2s, expected.wait = 3s, expected.run = 4s, expected.allocated = 5;
  expected.average_cpu = 6s, expected.used_memory = 7, expected.requested = 8, expected.requested_time = 9s;
  expected.requested_memory = 10, expected.status = 0, expected.user = 12, expected.group = 13;
  expected.executable = 14, expected.queue = 15, expected.partition = 16, expected.preceding = 17;
  expected.think_time = 18s;
  EXPECT_EQ(records[0], expected);
}

TEST(SwfReader, KeepsMinusOneInEveryField) {
  const auto records = read_records("-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0], SwfRecord{});
}

TEST(SwfReader, TellsMinusOneFromNumbersThatBeginLikeIt) {
  const auto records =
      read_records(job_line(1, {{2, "-12"}, {3, "-1\t"}, {4, "-10"}, {7, "-1.5"}, {17, "-1 "}, {18, "-1 "}}));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].submit, -12s);
  EXPECT_EQ(records[0].wait, -1s);
  EXPECT_EQ(records[0].run, -10s);
  EXPECT_EQ(records[0].used_memory, -1.5);
  EXPECT_EQ(records[0].preceding, -1);
  EXPECT_EQ(records[0].think_time, -1s);
  EXPECT_EQ(broken_message(job_line(2, {{18, "-"}})),
            "log.swf:2: field 18 (think time): expected a number of seconds, found '-'");
}

// Fields 1 and 17 hold any number; each length has a code path of its own.
TEST(SwfReader, ReadsNumbersOfEveryLengthWhereverTheyStand) {
  std::string digits;
  for (const char digit : std::string_view{"9071082635142837465"}) {
    digits += digit;
    for (const std::string& number : {digits, "-" + digits, "000" + digits}) {
      for (const char* behind : {"", " ", "\t", "  "}) {
        const std::string field = number + behind;
        const auto records = read_records(job_line(1, {{1, field}, {17, field}}));
        ASSERT_EQ(records.size(), 1U) << field;
        EXPECT_EQ(records[0].job, std::stoll(number));
        EXPECT_EQ(records[0].preceding, std::stoll(number));
      }
    }
    if (digits.size() > 10) continue;  // a time has at most 10 digits
    const auto last = read_records(job_line(1, {{18, digits}}) + job_line(2, {{18, "-" + digits}}));
    ASSERT_EQ(last.size(), 2U) << digits;
    EXPECT_EQ(last[0].think_time, std::chrono::seconds{std::stoll(digits)});
    EXPECT_EQ(last[1].think_time, -std::chrono::seconds{std::stoll(digits)});
  }
}

TEST(SwfReader, ReadsDecimalTimesExactlyToTheMicrosecond) {
  const auto records = read_records(
      job_line(1, {{2, "0.1"}, {3, "2.000001"}, {4, "489.00"}, {6, "0.3"}, {9, "1e3"}, {18, "1.5"}, {7, "12.25"}}));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].submit, 100'000us);
  EXPECT_EQ(records[0].wait, 2'000'001us);
  EXPECT_EQ(records[0].run, 489s);
  EXPECT_EQ(records[0].average_cpu, 300'000us);
  EXPECT_EQ(records[0].requested_time, 1000s);
  EXPECT_EQ(records[0].think_time, 1'500'000us);
  EXPECT_EQ(records[0].used_memory, 12.25);
}

TEST(SwfReader, TakesWholeNumbersThatAToolWroteAsDecimals) {
  const auto records = read_records(job_line(1, {{1, "9223372036854775807"}, {5, "4.0"}, {8, "1e+03"}}));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].job, 9223372036854775807);
  EXPECT_EQ(records[0].allocated, 4);
  EXPECT_EQ(records[0].requested, 1000);
}

TEST(SwfReader, TakesTabsManyBlanksAndBlankLines) {
  const auto records = read_records("\n  1\t2   3 4 5 6 7 8 9 10 1 12 13 14 15 16 -1 -1  \n\n\t\n" + job_line(2));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].submit, 2s);
}

TEST(SwfReader, TakesEveryLineEndAndMixesOfThem) {
  std::string text;
  for (const char* end : {"\r\n", "\n", "\r", "\r\r\n", "\n\r"}) {
    std::string line = job_line(1);
    line.pop_back();
    text += line + end;
  }
  text += job_line(6);
  text.pop_back();  // the last line has no newline
  const auto records = read_records(text);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[5].job, 6);
}

TEST(SwfReader, PassesOverAByteOrderMark) {
  const std::string text = "\xEF\xBB\xBF; MaxProcs: 64\n" + job_line(1);
  SwfReader reader(memory_source(text));
  EXPECT_EQ(reader.header().max_procs(), 64);
}

TEST(SwfReader, GivesCommentsBetweenRecordsWithTheRecordBehindThem) {
  const std::string text = "; Version: 2.2\n" + job_line(1) + "; a remark\n\n" + job_line(2) + ";the end\n";
  SwfReader reader(memory_source(text));
  SwfRecord record;
  ASSERT_TRUE(reader.next(record));
  EXPECT_TRUE(reader.comments().empty());
  EXPECT_EQ(reader.line(), 2U);
  ASSERT_TRUE(reader.next(record));
  EXPECT_EQ(reader.comments(), (std::vector<std::string>{"; a remark", ""}));
  EXPECT_EQ(reader.line(), 5U);
  EXPECT_FALSE(reader.next(record));
  EXPECT_EQ(reader.comments(), (std::vector<std::string>{";the end"}));
}

TEST(SwfReader, NamesFileLineFieldAndWhatItFound) {
  EXPECT_EQ(broken_message(job_line(2, {{5, "abc"}})),
            "log.swf:2: field 5 (allocated processors): expected a whole number, found 'abc'");
  EXPECT_EQ(broken_message(job_line(2, {{4, "1:30"}})),
            "log.swf:2: field 4 (run time): expected a number of seconds, found '1:30'");
  EXPECT_EQ(broken_message(job_line(2, {{7, "5MB"}})),
            "log.swf:2: field 7 (used memory): expected a number of kilobytes, found '5MB'");
  EXPECT_EQ(broken_message(job_line(2, {{8, "4.5"}})),
            "log.swf:2: field 8 (requested processors): expected a whole number, found '4.5'");
}

TEST(SwfReader, RefusesNotANumberAndInfinity) {
  for (const char* text : {"nan", "inf", "-inf", "NaN", "infinity", "--1", "-", "0x10", "1e999"}) {
    EXPECT_NE(broken_message(job_line(2, {{2, text}})).find("field 2 (submit time): expected"), std::string::npos)
        << text;
    EXPECT_NE(broken_message(job_line(2, {{7, text}})).find("field 7 (used memory): expected"), std::string::npos)
        << text;
    EXPECT_NE(broken_message(job_line(2, {{11, text}})).find("field 11 (status): expected"), std::string::npos) << text;
  }
}

TEST(SwfReader, RefusesNumbersBeyondRange) {
  EXPECT_EQ(broken_message(job_line(2, {{5, "2147483648"}})),
            "log.swf:2: field 5 (allocated processors): expected a whole number up to 2147483647, found '2147483648'");
  EXPECT_EQ(broken_message(job_line(2, {{2, "10000000001"}})),
            "log.swf:2: field 2 (submit time): expected at most 10000000000 seconds, found '10000000001'");
  EXPECT_EQ(broken_message(job_line(2, {{2, "99999999999999999999"}})),
            "log.swf:2: field 2 (submit time): expected at most 10000000000 seconds, found '99999999999999999999'");
  EXPECT_EQ(broken_message(job_line(2, {{9, "3155760001"}})),
            "log.swf:2: field 9 (requested time): expected at most 3155760000 seconds, found '3155760001'")
      << "a hundred years";
  EXPECT_EQ(broken_message(job_line(2, {{4, "1e10"}})),
            "log.swf:2: field 4 (run time): expected at most 3155760000 seconds, found '1e10'");
  EXPECT_NE(broken_message(job_line(2, {{1, "9223372036854775808"}})).find("field 1 (job number)"), std::string::npos);
  EXPECT_NE(broken_message(job_line(2, {{10, "1e300"}})).find("field 10 (requested memory)"), std::string::npos);
}

TEST(SwfReader, RefusesTooFewFields) {
  EXPECT_EQ(broken_message("1 2 3\n"), "log.swf:2: expected 18 fields, found 3 in '1 2 3'");
  EXPECT_EQ(broken_message(""), "expected one broken line") << "a blank line";
}

// As MetaCentrum's log and several simulators have them: nodes, queues, energy behind the format's fields.
TEST(SwfReader, ReadsTheFirstEighteenOfMoreFieldsAndCountsSuchRecords) {
  const auto with_more = [](int number, const std::string& more) {
    std::string line = job_line(number);
    line.pop_back();
    return line + more + "\n";
  };
  const std::string text = with_more(1, " {1241,1241} q_1d 1:ppn=4:x86_64#excl") + job_line(2) +
                           with_more(3, "\t4120") + with_more(4, " 1.5 2  ") +
                           "1 2 3 4 5 6 seven 8 9 10 1 12 13 14 15 16 17 18 19\n";
  SwfReader reader(memory_source(text, "log.swf"));
  const auto plain = read_records(job_line(1) + job_line(2) + job_line(3) + job_line(4));
  std::vector<SwfRecord> records;
  for (SwfRecord record; reader.next(record);) records.push_back(record);
  EXPECT_EQ(records, plain);
  EXPECT_EQ(reader.long_records(), 3U);
  EXPECT_EQ(reader.long_record_lines(), (std::vector<std::size_t>{1, 3, 4}));
  EXPECT_EQ(reader.broken_lines(), 1U) << "field 7 is no number";
  EXPECT_EQ(odd_line_report(reader).back(), "log.swf: 3 records of more than 18 fields, read by their first 18");
  EXPECT_EQ(message_of<InputError>([&] { read_records(with_more(1, " 15230"), {.strict = true}); }),
            "log.swf:1: expected 18 fields, found 19 in '1 10 0 100 4 -1 -1 4 200 -1 1 7 8 9 2 -1...'");
}

TEST(SwfReader, ShowsControlCharactersOfABrokenLineAsEscapes) {
  EXPECT_EQ(broken_message(job_line(2, {{5, "\x1b[31m"}})),
            "log.swf:2: field 5 (allocated processors): expected a whole number, found '\\x1b[31m'");
}

TEST(SwfReader, SkipsBrokenLinesCountsThemAndRemembersTheFirst) {
  std::string text = job_line(1);
  for (int i = 0; i < 20; ++i) text += "broken\n";
  text += job_line(2);
  SwfReader reader(memory_source(text, "log.swf"));
  SwfRecord record;
  EXPECT_TRUE(reader.next(record));
  EXPECT_TRUE(reader.next(record));
  EXPECT_EQ(record.job, 2);
  EXPECT_EQ(reader.broken_lines(), 20U);
  EXPECT_EQ(reader.broken_messages().size(), 5U);
  EXPECT_EQ(reader.broken_line_numbers(), (std::vector<std::size_t>{2, 3, 4, 5, 6}));
}

TEST(SwfReader, ABrokenLineDoesNotEndTheHeader) {
  const std::string text = "Version: 2.2\n; MaxProcs: 64\n" + job_line(1);
  SwfReader reader(memory_source(text, "log.swf"));
  EXPECT_EQ(reader.header().max_procs(), 64);
  EXPECT_EQ(reader.broken_lines(), 1U);
  SwfRecord record;
  EXPECT_TRUE(reader.next(record));
  EXPECT_EQ(reader.line(), 3U);
}

TEST(SwfReader, StrictThrowsAtTheFirstBrokenLine) {
  const std::string text = job_line(1) + "broken\n";
  EXPECT_EQ(message_of<InputError>([&] { read_records(text, {.strict = true}); }),
            "log.swf:2: expected 18 fields, found 1 in 'broken'");
}

TEST(SwfReader, CallsALineBeyondOneMebibyteBrokenAndGoesOn) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    for (const std::size_t length : {kLongestLine, kLongestLine + 1, 3 * kLongestLine, 5 * kLongestLine + 12345}) {
      std::string one = job_line(1);
      one.pop_back();
      std::string two = job_line(2);
      two.pop_back();
      const std::string text = one + end + std::string(length, '7') + end + two + end;
      SwfReader reader(memory_source(text, "log.swf"));
      SwfRecord record;
      ASSERT_TRUE(reader.next(record));
      ASSERT_TRUE(reader.next(record)) << length;
      EXPECT_EQ(record.job, 2);
      EXPECT_EQ(reader.line(), 3U);
      EXPECT_FALSE(reader.next(record));
      ASSERT_EQ(reader.broken_messages().size(), 1U);
      EXPECT_EQ(reader.broken_messages()[0].find("expected at most 1048576 characters") != std::string::npos,
                length > kLongestLine);
    }
  }
}

TEST(SwfReader, EmptyFileHasNoRecords) {
  EXPECT_EQ(message_of<InputError>([] { read_records(""); }),
            "log.swf: no records: expected lines of 18 numbers, found an empty file");
  EXPECT_EQ(message_of<InputError>([] { read_records("; Version: 2\n"); }),
            "log.swf: no records: expected lines of 18 numbers, found only comments");
}

TEST(SwfReader, TextOfAnotherKindHasNoRecordsAndShowsWhy) {
  const std::string message = message_of<InputError>([] { read_records("int main() {}\nreturn\n"); });
  EXPECT_NE(message.find("none among 2 lines; the first: log.swf:1: expected 18 fields"), std::string::npos) << message;
}

TEST(SwfReader, RefusesBinaryFilesAndArchives) {
  EXPECT_EQ(message_of<InputError>([] {
              read_records(
                  std::string_view("\x7f"
                                   "ELF\0\0",
                                   6));
            }),
            "log.swf: not a text file: found a NUL byte at offset 4");
  EXPECT_EQ(message_of<InputError>([] { read_records("BZh91AY"); }),
            "log.swf: not an SWF file: expected text or gzip, found a bzip2 file: run bunzip2 on it first");
}

std::string lines(std::size_t count, const std::string& line) {
  std::string text;
  text.reserve(count * line.size());
  for (std::size_t i = 0; i < count; ++i) text += line;
  return text;
}

// A megabyte of gzip holds a thousand times as many: they must not all be kept.
TEST(SwfReader, CommentLinesWithoutEndAreRefused) {
  for (const char* line : {";x\n", "\n", "; Note: x\n", ";   goes on\n"}) {
    const std::string most = lines(kMostCommentLines, line);
    EXPECT_EQ(read_records(most + job_line(1) + most + job_line(2)).size(), 2U) << "as many as may be";
    EXPECT_EQ(message_of<InputError>([&] { read_records(most + line + job_line(1)); }),
              "log.swf:100001: expected a record after at most 100000 comment and blank lines, found more");
    EXPECT_EQ(message_of<InputError>([&] { read_records(job_line(1) + most + line); }),
              "log.swf:100002: expected a record after at most 100000 comment and blank lines, found more");
  }
}

TEST(SwfReader, CommentLinesOfManyBytesAreRefused) {
  const std::string line = ";" + std::string(kLongestLine / 2, 'x') + "\n";
  EXPECT_EQ(message_of<InputError>([&] { read_records(lines(40, line) + job_line(1)); }),
            "log.swf:32: expected a record after at most 16777216 bytes of comment lines, found more");
}

TEST(SwfReader, NamesAFileThatIsMissingOrADirectory) {
  EXPECT_EQ(message_of<InputError>([] { SwfReader reader("/no/such.swf"); }),
            "/no/such.swf: cannot be opened: No such file or directory");
  const std::string directory = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(message_of<InputError>([&] { SwfReader reader(directory); }),
            directory + ": expected a file, found a directory");
}

TEST(SwfReader, ReadsLinesThatLieAcrossItsBlocks) {
  std::string text;
  constexpr int kMany = 20'000;  // some 1.2 MB: several blocks
  for (int i = 1; i <= kMany; ++i) text += job_line(i, {{12, std::string(static_cast<std::size_t>(1 + i % 9), '1')}});
  const auto records = read_records(text);
  ASSERT_EQ(records.size(), static_cast<std::size_t>(kMany));
  for (int i = 1; i <= kMany; ++i) ASSERT_EQ(records[static_cast<std::size_t>(i - 1)].job, i);
}

}  // namespace
}  // namespace replay
