// Tests of the figures against numbers by hand, and of the mean error against the paper's own table and definition.
#include "scheduler/compare/figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scheduler/validate/paper_numbers.hpp"
#include "tests/unit/metrics/records.hpp"

namespace replay::compare {
namespace {

using metrics::JobTable;
using metrics::Records;

// The rows of tests/data/fcfs_malleable_table1.csv, an independent copy of the paper's table: load, policy, then S and
// R of wait, response and slowdown.
std::vector<validate::PaperCell> table_of_the_paper() {
  std::ifstream in(REPLAY_SOURCE_DIR "/tests/data/fcfs_malleable_table1.csv");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "load_percent,policy,wait_sim,wait_real,resp_sim,resp_real,slowdown_sim,slowdown_real");
  std::vector<validate::PaperCell> cells;
  while (std::getline(in, line)) {
    std::vector<std::string> fields;
    std::stringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    EXPECT_EQ(fields.size(), 8u) << line;
    validate::PaperCell cell{std::stoi(fields.at(0)), fields.at(1) == "EASY" ? "easy" : "fcfs-malleable", {}};
    for (std::size_t i = 0; i < kFigureCount; ++i)
      cell.figures[i] = {std::stod(fields.at(2 + 2 * i)), std::stod(fields.at(3 + 2 * i))};
    cells.push_back(cell);
  }
  return cells;
}

std::vector<FigurePair> pairs_of(const std::vector<validate::PaperCell>& cells) {
  std::vector<FigurePair> pairs;
  for (const validate::PaperCell& cell : cells) pairs.insert(pairs.end(), cell.figures.begin(), cell.figures.end());
  return pairs;
}

TEST(PaperTable, OursIsThePapers) {
  const auto cells = table_of_the_paper();
  ASSERT_EQ(cells.size(), validate::kPaperTable1.size());
  for (const validate::PaperCell& cell : cells) {
    const validate::PaperCell* const ours = validate::paper_cell(cell.load_percent, cell.policy);
    ASSERT_NE(ours, nullptr) << cell.load_percent << " " << cell.policy;
    for (std::size_t i = 0; i < kFigureCount; ++i) {
      EXPECT_EQ(ours->figures[i].simulated, cell.figures[i].simulated) << cell.load_percent << " " << cell.policy;
      EXPECT_EQ(ours->figures[i].real, cell.figures[i].real) << cell.load_percent << " " << cell.policy;
    }
  }
}

TEST(MeanRelativeError, OfThePapersTableIsTheSevenPercentThatItStates) {
  const MeanError error = mean_relative_error(pairs_of(table_of_the_paper()));
  EXPECT_EQ(error.figures, 24u);
  EXPECT_EQ(error.left_out, 0u);
  EXPECT_NEAR(error.mean * 100, validate::kPaperMeanError, 0.005);
}

TEST(MeanRelativeError, TakenOfTheSimulatedOrWithSignsIsNotThePapers) {
  double over_simulated = 0, with_signs = 0;
  const auto pairs = pairs_of(table_of_the_paper());
  for (const FigurePair& pair : pairs) {
    over_simulated += std::abs(pair.simulated - pair.real) / pair.simulated / 24 * 100;
    with_signs += relative_error(pair) / 24 * 100;
  }
  EXPECT_NEAR(over_simulated, 6.64, 0.005);
  EXPECT_NEAR(with_signs, 2.62, 0.005);
}

TEST(MeanRelativeError, LeavesOutWhatHasNone) {
  const FigurePair pairs[] = {{110, 100},        {0, 0}, {3, 0}, {std::nan(""), 5}, {80, 100}, {0, 0.003, 0.02},
                              {0.5, 0.003, 0.02}};
  const MeanError error = mean_relative_error(pairs);
  EXPECT_EQ(error.figures, 2u);
  EXPECT_EQ(error.nothing, 2u);
  EXPECT_EQ(error.left_out, 3u);
  EXPECT_NEAR(error.mean, (0.1 + 0.2) / 2, 1e-12);
  EXPECT_TRUE(std::isnan(mean_relative_error({}).mean));
}

TEST(RelativeError, IsOfTheRealRunAndPositiveWhereTheSimulatorSaysMore) {
  EXPECT_DOUBLE_EQ(relative_error({55, 60}), -5.0 / 60);
  EXPECT_DOUBLE_EQ(relative_error({1.6, 1.3}), 0.3 / 1.3);
}

// Two jobs on two cores: the second waits for the first, 10 s; a third never runs.
JobTable three_jobs(double runtime_of_second) {
  JobTable table;
  Records("flat:2")
      .submit(0, 1, 2, 10)
      .launch(0, 1, 2)
      .submit(5, 2, 2, runtime_of_second)
      .submit(6, 3, 1, 1)
      .finish(10, 1)
      .launch(10, 2, 2)
      .finish(20, 2)
      .finish(20, 3, metrics::ended(Outcome::kCancelled))
      .feed(table);
  return table;
}

TEST(Figures, AreMeansOverTheJobsThatRan) {
  const JobTable table = three_jobs(5);
  const Figures figures = mean_figures(table, table);
  EXPECT_DOUBLE_EQ(figures[0], 2.5);            // 0, 5
  EXPECT_DOUBLE_EQ(figures[1], 12.5);           // 10, 15
  EXPECT_DOUBLE_EQ(figures[2], (1 + 3) / 2.0);  // 10/10, 15/5: formula (1)
}

TEST(Figures, TakeExpandedRunTimesFromTheTraceThatWasMeant) {
  const Figures figures = mean_figures(three_jobs(10), three_jobs(5));
  EXPECT_DOUBLE_EQ(figures[2], (1 + 3) / 2.0);
}

TEST(Figures, OfNoJobsAreNone) {
  const JobTable nobody;
  for (const double figure : mean_figures(nobody, nobody)) EXPECT_TRUE(std::isnan(figure));
}

TEST(PercentMore, IsNegativeForAGainAndNothingWhereTheFirstIsZero) {
  EXPECT_DOUBLE_EQ(percent_more(200, 150), -25);
  EXPECT_TRUE(std::isnan(percent_more(0, 1)));
}

}  // namespace
}  // namespace replay::compare
