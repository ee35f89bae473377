// Tests of findings, and of tables and charts made from them: means and gains over seeds, the paper's numbers beside ours.
#include "scheduler/study/findings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/base/error.hpp"
#include "scheduler/study/sheet.hpp"
#include "scheduler/study/statements.hpp"

namespace replay::study {
namespace {

const Printed& printed() {
  static const Printed kNumbers{"waits | wait\n1 | 90\nall | 5\n\ngains | mean\nours | 60\n"};
  return kNumbers;
}

Findings two_seeds(Findings::Mean mean = mean_of) {
  Findings found{printed(), mean};
  found.add("W/ours", 2, {{"wait", 100}});
  found.add("W/ours", 1, {{"wait", 50}});
  found.add("W/theirs", 1, {{"wait", 100}});
  found.add("W/theirs", 2, {{"wait", 400}});
  return found;
}

TEST(Findings, GainsAreOfTheMeansAndBySeed) {
  const Findings found = two_seeds();
  EXPECT_DOUBLE_EQ(found.mean("W/{}/wait", "ours"), 75);
  EXPECT_DOUBLE_EQ(found.less("W/ours", "W/theirs", "wait"), 70);
  EXPECT_DOUBLE_EQ(found.more("W/ours", "W/theirs", "wait"), -70);
  EXPECT_EQ(found.less_by_seed("W/ours", "W/theirs", "wait"), (std::vector<double>{50, 75}));
}

TEST(Findings, GeometricMeansAreNotLedByOneHighSeed) {
  const Findings found = two_seeds(geometric_mean_of);
  EXPECT_NEAR(found.mean("W/theirs/wait"), 200, 1e-9);
  EXPECT_DOUBLE_EQ(found.average("W/theirs/wait"), 250);
  EXPECT_NEAR(found.less("W/ours", "W/theirs", "wait"), (1 - std::sqrt(0.5 * 0.25)) * 100, 1e-9);
}

TEST(Findings, KnowNothingOfWhatWasNotRunAndRefuseAFigureThatThereIsNot) {
  const InvariantsThrow throwing;
  const Findings found = two_seeds();
  EXPECT_TRUE(std::isnan(found.mean("V/ours/wait")));
  EXPECT_TRUE(found.less_by_seed("V/ours", "W/ours", "wait").empty());
  EXPECT_THROW(static_cast<void>(found.mean("W/ours/weight")), BrokenInvariant);
}

TEST(Sheet, PutsThePapersNumbersBesideOursByLineAndColumn) {
  const Findings found = two_seeds();
  Sheet sheet{found, {"waits"}, lines_that_ran(found, {{"1", "W/ours"}, {"2", "W/theirs", "all"}, {"3", "W/no"}})};
  sheet.mean({"wait"}, "*/wait", 2);
  const Table& table = sheet.table();
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].values[0].ours, 150);
  EXPECT_EQ(table.rows[0].values[0].paper, 90);
  EXPECT_EQ(table.rows[1].values[0].paper, 5);
}

TEST(Sheet, LosesNoPrintedNumberByTheNameOfItsColumn) {
  const InvariantsThrow throwing;
  const Findings found = two_seeds();
  Sheet sheet{found, {"waits"}, {{"1", "W/ours"}}};
  sheet.mean({"weight"}, "*/wait");
  EXPECT_THROW(static_cast<void>(sheet.table()), BrokenInvariant);
}

TEST(Sheet, SaysHowFarOtherSeedsMayMoveAMean) {
  Findings found{printed()};
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    found.add("W/ours", seed, {{"wait", 8 + 2 * static_cast<double>(seed)}});
  Sheet sheet{found, {}, {{"ours", "W/ours"}}};
  const auto by_seed = [&](std::size_t line) { return found.by_seed(sheet.filled("*/wait", line)); };
  sheet.interval("s", 1, by_seed);
  sheet.seeds("s", 1, by_seed);
  const std::vector<Value>& values = sheet.table().rows.at(0).values;
  ASSERT_EQ(values.size(), 4u);
  EXPECT_NEAR(values[0].ours, 4.303 * 2 / std::sqrt(3.0), 1e-3) << "t of two degrees of freedom is 4.303";
  EXPECT_EQ(values[3].ours, 14);
}

TEST(GainTable, HasMeanAndSeedsWithTheirSign) {
  const Table table = gain_table(two_seeds(), {"gains"}, {{"ours", "W/ours", "W/theirs", "wait"}}, "", 0, false, -1);
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.rows[0].values[0].ours, -70);
  EXPECT_EQ(table.rows[0].values[0].paper, 60);
  EXPECT_EQ(table.rows[0].values[2].ours, -75);
}

TEST(Charts, AreMadeFromTables) {
  const Table table{.columns = {{"wait"}, {"gap"}}, .rows = {{"0.5", {{3, 4}, {kNoValue}}}, {"2", {{5}, {6}}}}};
  const report::BarChart bars = bars_of(table, {"T", "x", "y"});
  EXPECT_EQ(bars.labels, (std::vector<std::string>{"0.5", "2"}));
  EXPECT_EQ(bars.series.at(1).values, (std::vector<double>{0, 6}));
  const CurveChart curves = curves_of(table, {"T", "x", "y"});
  ASSERT_EQ(curves.curves.size(), 3u);
  EXPECT_EQ(curves.curves[1].points.size(), 1u);
  EXPECT_EQ(curves.curves[2].name, "wait, paper");
  EXPECT_EQ(curves.curves[2].points.at(0).x, 0.5);
}

TEST(Statements, HoldIfAllTheirPartsDoAndAreLeftOutWithoutAny) {
  const Statement statements[] = {{"A",
                                   [](Check& check, const Findings& /*found*/) {
                                     check.add(false, "{}", 1);
                                     check.add(true, "{}", 2);
                                   }},
                                  {"B", [](Check& /*check*/, const Findings& /*found*/) {}}};
  const std::vector<Check> checks = judged<Findings>(two_seeds(), statements);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_FALSE(checks[0].holds);
  EXPECT_EQ(checks[0].found, "1; 2");
}

}  // namespace
}  // namespace replay::study
