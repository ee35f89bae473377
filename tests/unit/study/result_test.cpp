// Tests of results: they say where our figure is outside the band, and why, in the same way on the page, on the
// terminal and in the CSV.
#include "scheduler/study/result.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/study/page.hpp"

namespace replay::study {
namespace {

Table sample() {
  return {.id = "table 1",
          .title = "Table 1: waits",
          .source = "Table 1",
          .row_name = "month",
          .columns = {{"jobs", "", 0},
                      {"wait", "s", 1, Band{.relative = 0.1}, "another log"},
                      {"gain", "%", 1, Band{.absolute = 2}}},
          .rows = {{"May", {{3}, {109, 100}, {7, 4}}}, {"June, hot", {{4}, {111, 100}, {5}}}}};
}

TEST(Band, HoldsWhatIsNearInEitherWay) {
  EXPECT_TRUE((Band{.relative = 0.25}.contains(125, 100)));
  EXPECT_FALSE((Band{.relative = 0.25}.contains(126, 100)));
  EXPECT_FALSE((Band{.relative = 0.25}.contains(1, 0)));
  EXPECT_TRUE((Band{.relative = 0.25, .absolute = 10}.contains(1, 0)));
  EXPECT_TRUE((Band{}.contains(5, 5)));
}

TEST(Table, StarsOnlyWhatIsOutsideAndHidesThePaperWhereItHasNothing) {
  const auto cells = cells_of(sample());
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0], (std::vector<std::string>{"month", "jobs", "wait, s", "paper", "gain, %", "paper"}));
  EXPECT_EQ(cells[1], (std::vector<std::string>{"May", "3", "109.0", "100.0", "7.0*", "4.0"}));
  EXPECT_EQ(cells[2], (std::vector<std::string>{"June, hot", "4", "111.0*", "100.0", "5.0", ""}));
}

TEST(Table, SaysWhyOrThatItIsNotExplained) {
  EXPECT_EQ(remarks_of(sample()),
            (std::vector<std::string>{"* wait: further than 10 % from the paper: another log",
                                      "* gain: further than 2 points from the paper: not explained"}));
}

TEST(Table, WhatWasNotSimulatedIsNeverOutside) {
  Table table = sample();
  table.rows[0].values[1].ours = std::nan("");
  EXPECT_FALSE(table.is_outside(0, 1));
  EXPECT_EQ(cells_of(table)[1][2], "-");
}

TEST(Csv, HasEveryNumberWithQuotedNames) {
  const Result result{.name = "x", .title = "X", .paper = "P", .sections = {{.title = "S", .tables = {sample()}}}};
  EXPECT_EQ(to_csv(result),
            "table,row,column,unit,ours,paper,inside_band\n"
            "table 1,May,jobs,,3,,\n"
            "table 1,May,wait,s,109,100,yes\n"
            "table 1,May,gain,%,7,4,no\n"
            "table 1,\"June, hot\",jobs,,4,,\n"
            "table 1,\"June, hot\",wait,s,111,100,no\n"
            "table 1,\"June, hot\",gain,%,5,,\n");
}

TEST(Page, StandsAloneAndSaysWhatDoesNotHold) {
  const Figure figure{
      .title = "F",
      .panels = {CurveChart{
          .title = "a < b", .x_name = "x", .y_name = "y", .curves = {{.name = "one", .points = {{0, 1}, {1, 3}}}}}}};
  const Result result{.name = "x",
                      .title = "X",
                      .paper = "P",
                      .limits = {"half of it"},
                      .checks = {{.statement = "A is best", .holds = false, .found = "B", .why = ""}},
                      .sections = {{.title = "S", .figures = {figure}, .tables = {sample()}}}};
  const std::string page = to_html(result);
  for (const char* text :
       {"half of it", "A is best", "does not hold: not explained", "a &lt; b", "111.0*", "another log"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  for (const char* text : {"<script", "<link", "src=", "@import"})
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  EXPECT_EQ(page, to_html(result));
}

}  // namespace
}  // namespace replay::study
