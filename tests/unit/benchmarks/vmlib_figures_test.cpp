// Tests of the verdicts and tables computed from measurements of vmlib.

#include "benchmarks/perf/vmlib_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace replay::bench {
namespace {

constexpr std::size_t kByMedians = 4, kByFastest = 7;  // columns

/// The verdict in the row of the table of targets that begins with `what`.
std::string verdict(const Measurements& measured, const std::string& what, std::size_t column = kByMedians) {
  for (const Table& table : tables_of(measured)) {
    if (table.title != "targets") continue;
    for (const auto& row : table.rows)
      if (row.front().starts_with(what)) return row.at(column);
  }
  return "no such row";
}

Series series(const std::string& name, const std::string& unit, std::map<Setting, std::vector<double>> rounds) {
  return {name, unit, std::move(rounds)};
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Series, OverheadIsTheMedianOfDifferencesWithinARound) {
  // The machine was slow in the second round: medians of each column would say 0.1.
  const Series noisy = series("x", "us", {{Setting::kStock, {1.0, 2.0, 1.1}}, {Setting::kVmlib, {1.2, 2.2, 1.0}}});
  EXPECT_NEAR(noisy.overhead().value(), 0.2, 1e-9);
  EXPECT_FALSE(series("x", "us", {{Setting::kStock, {1.0}}}).overhead().has_value());
}

TEST(Targets, AreMetByEachBackEndOrByOne) {
  Measurements measured;
  measured.series.push_back(series("cg W", "s",
                                   {{Setting::kStock, {1.0}},
                                    {Setting::kOneRank, {1.9}},
                                    {Setting::kYieldShared, {2.6}},
                                    {Setting::kTokenShared, {2.2}}}));
  EXPECT_EQ(verdict(measured, "1. cg W"), "met by token");
  EXPECT_EQ(verdict(measured, "2. cg W"), "met by token");
  measured.series[0].rounds[Setting::kYieldShared] = {2.3};
  EXPECT_EQ(verdict(measured, "1. cg W"), "met");
  measured.series[0].rounds.erase(Setting::kTokenShared);
  measured.series[0].rounds[Setting::kYieldShared] = {2.4};
  EXPECT_EQ(verdict(measured, "1. cg W"), "NOT MET");
}

TEST(Targets, TheWorstKernelCountsAndClassSDoesNot) {
  Measurements measured;
  const auto add = [&](const std::string& name, double four) {
    measured.series.push_back(series(name, "s", {{Setting::kStock, {1.0}}, {Setting::kYieldFour, {four}}}));
  };
  add("cg W", 1.2);
  add("cg S", 9);
  EXPECT_EQ(verdict(measured, "3."), "met");
  add("ep W", 1.4);
  EXPECT_EQ(verdict(measured, "3."), "NOT MET");
}

TEST(Targets, EachKernelHasItsOwn) {
  // Two ranks on one core take 2.2 times what they take on two, and 1.2 times what one rank takes.
  Measurements measured;
  for (const char* name : {"ep W", "is A", "cg W", "mg A", "ft A", "lu W"})
    measured.series.push_back(series(
        name, "s", {{Setting::kStock, {1.0}}, {Setting::kOneRank, {2.2 / 1.2}}, {Setting::kYieldShared, {2.2}}}));
  EXPECT_EQ(verdict(measured, "1. cg W"), "met");
  for (const char* name : {"1. mg A", "1. lu W"}) EXPECT_EQ(verdict(measured, name), "NOT MET") << name;
  for (const char* name : {"1. ep W", "1. is A", "1. ft A"}) EXPECT_EQ(verdict(measured, name), "no such row") << name;
  for (const char* name : {"2. is A", "2. cg W", "2. ft A"}) EXPECT_EQ(verdict(measured, name), "met") << name;
  for (const char* name : {"2. ep W", "2. mg A", "2. lu W"}) EXPECT_EQ(verdict(measured, name), "NOT MET") << name;
}

TEST(Targets, WhatWasNotMeasuredIsNotMet) {
  EXPECT_EQ(verdict({}, "3."), "not measured");
  EXPECT_EQ(verdict({}, "6. shrink or expand, median"), "not measured");
}

TEST(Targets, AMissingMoveMissesTheTarget) {
  Measurements measured;
  measured.moves_wanted = 3;
  measured.moves["yield"] = {1e-4, 2e-4};
  EXPECT_EQ(verdict(measured, "6. shrink or expand, median"), "met");
  EXPECT_EQ(verdict(measured, "6. missing"), "NOT MET");
  measured.moves["yield"].push_back(0.011);
  EXPECT_EQ(verdict(measured, "6. missing"), "met");
  EXPECT_EQ(verdict(measured, "6. shrink or expand, p99"), "NOT MET");
}

TEST(Targets, FastestRoundsTellOfUsWhereMediansTellOfTheNeighbours) {
  Measurements measured;  // other programs ran in two of three rounds
  measured.series.push_back(series("ep W", "s",
                                   {{Setting::kStock, {1.0, 1.3, 1.2}},
                                    {Setting::kVmlib, {1.2, 1.4, 1.0}},
                                    {Setting::kOneRank, {2.0, 2.1, 2.0}},
                                    {Setting::kYieldShared, {2.5, 2.05, 2.4}}}));
  EXPECT_EQ(verdict(measured, "2. ep W"), "NOT MET");
  EXPECT_EQ(verdict(measured, "2. ep W", kByFastest), "met");
  EXPECT_EQ(verdict(measured, "5. ep W"), "NOT MET");
  EXPECT_EQ(verdict(measured, "5. ep W", kByFastest), "met");
}

TEST(Targets, ADisturbedMachineMeetsAndMissesNothing) {
  Measurements measured;
  measured.is_disturbed = true;
  measured.moves_wanted = 1;
  measured.moves["yield"] = {1e-4};
  EXPECT_EQ(verdict(measured, "6. shrink or expand, median"), "disturbed");
}

TEST(Tables, MarkdownHasAHeaderAndARowForEach) {
  const Table table{"title", {{"", "a"}, {"b", "1"}}};
  EXPECT_EQ(table.markdown(), "**title**\n\n|  | a |\n|---|---|\n| b | 1 |\n");
  EXPECT_EQ(table.text(), "title\n     a\n  b  1\n");
}

}  // namespace
}  // namespace replay::bench
