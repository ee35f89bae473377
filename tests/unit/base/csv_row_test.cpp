#include "scheduler/base/text/csv_row.hpp"

#include <gtest/gtest.h>

#include <string>

#include "scheduler/base/text/csv_file.hpp"
#include "scheduler/base/text/split.hpp"

namespace replay {
namespace {

using Cells = std::vector<std::string_view>;

Cells cells_of(const CsvRow& row) { return {row.cells().begin(), row.cells().end()}; }

TEST(CsvRow, IsCutAtCommas) {
  CsvRow row;
  EXPECT_TRUE(row.begin("a,,b "));
  EXPECT_EQ(cells_of(row), (Cells{"a", "", "b "}));
  EXPECT_TRUE(row.begin(""));
  EXPECT_EQ(cells_of(row), Cells{""});
}

TEST(CsvRow, QuotedCellsHoldCommasAndQuotationMarks) {
  CsvRow row;
  EXPECT_TRUE(row.begin(R"(1,"a,b","say ""no""","",2)"));
  EXPECT_EQ(cells_of(row), (Cells{"1", "a,b", "say \"no\"", "", "2"}));
  EXPECT_TRUE(row.begin("3,4"));
  EXPECT_EQ(cells_of(row), (Cells{"3", "4"})) << "nothing is left of the row before";
}

TEST(CsvRow, AQuotedCellGoesOnInTheNextLine) {
  CsvRow row;
  EXPECT_FALSE(row.begin(R"(1,"one)"));
  EXPECT_FALSE(row.go_on("two,"));
  EXPECT_TRUE(row.go_on(R"(three",4)"));
  EXPECT_EQ(cells_of(row), (Cells{"1", "one\ntwo,\nthree", "4"}));
}

TEST(CsvRow, TextsThatStandBehindAnApostropheComeBackAsTheyWere) {
  for (const std::string text : {"=1+1", "-2+3", "@SUM(A1)", "+cmd|'/c \"calc\"'!A1,", "\t=1", " =1", "'=1", "'' -1",
                                 "'", "'plain", "a=1", "-", ""}) {
    std::string memory;
    const std::string line = "1," + std::string{CsvFile::quoted(text, memory)} + ",2";
    CsvRow row;
    ASSERT_TRUE(row.begin(line)) << line;
    EXPECT_EQ(cells_of(row), (Cells{"1", text, "2"})) << line;
    EXPECT_TRUE(text.empty() || std::string_view{"=+-@\t"}.find(line[2]) == std::string_view::npos) << line;
  }
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a:b::", ':'), (Cells{"a", "b", "", ""}));
  EXPECT_EQ(split("", ':'), Cells{""});
}

}  // namespace
}  // namespace replay
