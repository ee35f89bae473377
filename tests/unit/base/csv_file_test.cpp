#include "scheduler/base/text/csv_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/model/units.hpp"
#include "tests/support/shell.hpp"

namespace replay {
namespace {

using std::chrono::microseconds;

std::string line_of(void (*put)(CsvLine&)) {
  const TemporaryFolder folder;
  CsvFile file(folder / "t.csv", "a");
  CsvLine line = file.begin_line(20, 100);
  put(line);
  file.end_line(line);
  file.close();
  const std::string text = test::text_of(folder / "t.csv");
  EXPECT_TRUE(text.starts_with("a\n") && text.ends_with("\n")) << text;
  return text.substr(2, text.size() - 3);
}

TEST(CsvFile, SecondsHaveSixDecimals) {
  EXPECT_EQ(line_of([](CsvLine& line) {
              for (const std::int64_t us : {0L, 1L, 999'999L, 1'000'000L, 90'000'010L, -1L, -2'500'000L})
                line.seconds(Duration{us});
            }),
            "0.000000,0.000001,0.999999,1.000000,90.000010,-0.000001,-2.500000");
  EXPECT_EQ(line_of([](CsvLine& line) {
              line.seconds(Duration::max());
              line.seconds(Duration::min());
            }),
            "9223372036854.775807,-9223372036854.775808");
}

TEST(CsvFile, WhatIsNoNumberIsEmpty) {
  EXPECT_EQ(line_of([](CsvLine& line) {
              line.ratio(std::numeric_limits<double>::quiet_NaN());
              line.ratio(1.0 / 3);
              line.empty();
              line.ratio(1e300);
              line.count(-17);
            }),
            ",0.333333,,1e+300,-17");
}

TEST(CsvFile, ATextThatASpreadsheetWouldReadAsAFormulaStandsBehindAnApostrophe) {
  const auto cell = [](std::string_view text) {
    std::string memory;
    return std::string{CsvFile::quoted(text, memory)};
  };
  EXPECT_EQ(cell("=1+1"), "'=1+1");
  EXPECT_EQ(cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(cell("-2+3"), "'-2+3");
  EXPECT_EQ(cell("\t=1"), "'\t=1");
  EXPECT_EQ(cell("+cmd|'/c \"calc\"'!A1,"), "\"'+cmd|'/c \"\"calc\"\"'!A1,\"");
  EXPECT_EQ(cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(cell("a=1"), "a=1");
  EXPECT_EQ(cell(""), "");
}

TEST(CsvFile, WholeNumbersOfAllLengths) {
  std::vector<std::int64_t> numbers = {std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()};
  for (std::int64_t power = 1; power <= 100'000'000'000'000'000; power *= 10)
    for (const std::int64_t number : {power - 1, power, power + 1, 7 * power}) numbers.push_back(number);
  for (std::int64_t number = 0; number < 20'000; ++number) numbers.insert(numbers.end(), {number, number * 10'000});
  const TemporaryFolder folder;
  CsvFile file(folder / "t.csv", "a");
  std::string expected = "a\n";
  for (const std::int64_t number : numbers) {
    CsvLine line = file.begin_line(1);
    line.count(number);
    file.end_line(line);
    expected += std::to_string(number) + '\n';
  }
  file.close();
  EXPECT_TRUE(test::text_of(folder / "t.csv") == expected);
}

TEST(CsvFile, RatiosAreRoundedAtTheSixthDecimal) {
  EXPECT_EQ(
      line_of([](CsvLine& line) {
        for (const double value : {0.0, 1.0, -1.0, 0.0000005, -0.0000005, 0.00000049, 1.9999995, 123456.7890125, 2e6})
          line.ratio(value);
      }),
      "0.000000,1.000000,-1.000000,0.000001,-0.000001,0.000000,2.000000,123456.789013,2000000.000000");
}

TEST(CsvFile, WordsOfAllLengths) {
  const TemporaryFolder folder;
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  CsvFile file(folder / "t.csv", "a");
  std::string expected = "a\n";
  for (std::size_t length = 0; length <= letters.size(); ++length) {
    CsvLine line = file.begin_line(0, length + 5);
    line.word(std::string_view{letters}.substr(0, length));
    line.word("end");
    file.end_line(line);
    expected += letters.substr(0, length) + ",end\n";
  }
  file.close();
  EXPECT_EQ(test::text_of(folder / "t.csv"), expected);
}

TEST(CsvFile, PiecesMakeOneCell) {
  EXPECT_EQ(line_of([](CsvLine& line) {
              line.count(1);
              for (const int core : {0, 17, 123456789}) {
                line.piece(core);
                line.piece('-');
              }
              line.empty();
              line.count(2);
            }),
            "1,0-17-123456789-,2");
}

TEST(CsvFile, ANumberCanComeAgain) {
  EXPECT_EQ(line_of([](CsvLine& line) {
              const CsvLine::Cell time = line.seconds(Duration::min());
              const CsvLine::Cell count = line.count(42);
              line.again(count);
              line.again(time);
              line.again(line.ratio(0.5));
              line.again(line.ratio(std::numeric_limits<double>::infinity()));
              line.count(7);
            }),
            "-9223372036854.775808,42,42,-9223372036854.775808,0.500000,0.500000,,,7");
}

TEST(CsvFile, QuotesWhereTheFormatAsksForIt) {
  std::string memory;
  EXPECT_EQ(CsvFile::quoted("plain", memory), "plain");
  EXPECT_EQ(CsvFile::quoted("a, \"b\"", memory), "\"a, \"\"b\"\"\"");
}

TEST(CsvFile, LinesOfAnyLengthComeThrough) {
  const TemporaryFolder folder;
  const std::string longest(500'000, 'x');
  std::string expected = "a\n";
  CsvFile file(folder / "t.csv", "a");
  for (int i = 0; i < 50'000; ++i) {
    const std::string_view text = i == 700 ? std::string_view{longest} : "abc";
    CsvLine line = file.begin_line(1, text.size() + 1);
    line.count(i);
    line.word(text);
    file.end_line(line);
    expected += std::to_string(i) + ',' + (i == 700 ? longest : "abc") + '\n';
  }
  file.close();
  EXPECT_TRUE(test::text_of(folder / "t.csv") == expected);
}

TEST(CsvFile, AFullDiskIsSaid) {
  CsvFile file("/dev/full", "a");
  EXPECT_THROW(file.close(), InputError);
}

}  // namespace
}  // namespace replay
