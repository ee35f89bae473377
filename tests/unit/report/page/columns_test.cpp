#include "scheduler/report/page/columns.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace replay::report {
namespace {

// The examples of docs/formats/report-page.md.
TEST(Columns, AreLittleEndianBytesInBase64WithADescription) {
  Columns columns;
  EXPECT_EQ(columns.add(std::vector<std::int32_t>{1, -1}).dump(), R"({"bin":0,"type":"i32","length":2})");
  EXPECT_EQ(columns.add(std::vector<double>{2.5}).dump(), R"({"bin":1,"type":"f64","length":1})");
  EXPECT_EQ(columns.add(std::vector<std::uint8_t>{0, 255, 7}).dump(), R"({"bin":2,"type":"u8","length":3})");
  EXPECT_EQ(columns.blocks()[0], "AQAAAP////8=");
  EXPECT_EQ(columns.blocks()[1], "AAAAAAAABEA=");
  EXPECT_EQ(columns.blocks()[2], "AP8H");
}

TEST(Columns, OfNumbersHaveTheNarrowestTypeThatHoldsAllExactly) {
  const auto type = [](const auto& values) {
    Columns columns;
    return columns.add(values)["type"].template get<std::string>();
  };
  using Doubles = std::vector<double>;
  using Ints = std::vector<std::int32_t>;
  EXPECT_EQ(type(Doubles{0, 255}), "u8");
  EXPECT_EQ(type(Doubles{0, 256}), "i32");
  EXPECT_EQ(type(Doubles{-1, 2147483647}), "i32");
  EXPECT_EQ(type(Doubles{2147483648}), "f64");
  EXPECT_EQ(type(Doubles{1, 0.5}), "f64");
  EXPECT_EQ(type(Doubles{1, std::numeric_limits<double>::quiet_NaN()}), "f64");
  EXPECT_EQ(type(Doubles{std::numeric_limits<double>::infinity()}), "f64");
  EXPECT_EQ(type(Ints{0, 255}), "u8");
  EXPECT_EQ(type(Ints{0, 256}), "i32");
  EXPECT_EQ(type(Ints{-1}), "i32");
}

TEST(Columns, OfTextsAreTheirBytesAndWhereEachBegins) {
  Columns columns;
  EXPECT_EQ(columns.add(std::vector<std::string>{"ab", "", "\xC3\xA9"}).dump(),
            R"({"bin":0,"type":"utf8","length":3,"offsets":{"bin":1,"type":"u8","length":4}})");
  EXPECT_EQ(columns.blocks()[0], "YWLDqQ==") << "ab, e with an acute accent";
  EXPECT_EQ(columns.blocks()[1], "AAICBA==") << "0 2 2 4";
}

TEST(Columns, OfTextsAreCleaned) {
  Columns columns;
  (void)columns.add(std::vector<std::string>{"a\x1b[31mb\xff\nc"});
  EXPECT_EQ(columns.blocks()[0], "YWLvv70KYw==") << "ab, U+FFFD, line end, c";
}

TEST(Columns, WithoutValuesHaveABlockToo) {
  Columns columns;
  EXPECT_EQ(columns.add(std::vector<double>{}).dump(), R"({"bin":0,"type":"u8","length":0})");
  EXPECT_EQ(columns.add(std::vector<std::string>{})["offsets"].dump(), R"({"bin":2,"type":"u8","length":1})");
  EXPECT_EQ(columns.blocks()[0], "");
}

}  // namespace
}  // namespace replay::report
