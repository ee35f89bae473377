// Tests of table.txt: what it says of a study, and of what is missing.
#include "scheduler/sweep/answer/answer_text.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sweep/answer/made_study.hpp"

namespace replay::sweep {
namespace {

AnswerText answer_of_study(const StudyResults& results) { return answer_of(results, compare(results)); }

std::string text_of_study(const StudyResults& results) { return to_text(answer_of_study(results)); }

// Of the open difference -0.475 with the deviation 1.8715: 62 seeds would give a half-width of 0.47527 and 63 one of 0.47133, by
// t found by integrating its density numerically, in another language.
TEST(AnswerText, SaysWhatIsBestWhatIsOpenAndWhatIsMissing) {
  StudyResults results = test::made_study({"easy", "fcfs-malleable", "easy-malleable:max_mpl=4"}, {"0.6", "0.7"},
                                          {{{50, 60, 70, 80, 90}, {50, 60, 70, 80, 90}},
                                           {{40.1, 50, 59.9, 70, 80}, {40.1, 50, 59.9, 70, 80}},
                                           {{39.1, 49.1, 58.8, 69, 79}, {39.1, 51, 57, 71, 78}}});
  results.cells.back().failure = "out of memory";
  results.cells.erase(results.cells.begin() + 4);
  const std::string text = text_of_study(results);
  EXPECT_EQ(text.substr(0, text.find("An interval is")), R"(made
28 of 30 cells are done, by version 1.0; 1 failed, 1 missing.
Failed: 1: out of memory.
They are left out: a mean is over the seeds that are there, which stand in brackets where some are not, and a difference
over the seeds that both policies have.
While cells are missing, all marks (* and best) are provisional: each is right by what is there now, and the missing
cells may take it back.

mean_wait, s: less is better
Best so far of 2 settings: easy-malleable:max_mpl=4 in 1; open in 1.

Means over seeds +- half-width of the 95 % interval
load          easy  fcfs-malleable  easy-malleable:max_mpl=4               best so far
0.6   65 +- 21 (4)        60 +- 20                  59 +- 20  easy-malleable:max_mpl=4
0.7       70 +- 20        60 +- 20              55 +- 21 (4)                      open

Differences to easy, pairs of the same workload and seed: mean [95 % interval], % of its mean; * settled so far
load                       fcfs-malleable              easy-malleable:max_mpl=4
0.6   * -10.000 [-10.130, -9.870] -15.4 %  * -11.000 [-11.225, -10.775] -16.9 %
0.7   * -10.000 [-10.088, -9.912] -14.3 %   * -10.475 [-13.509, -7.441] -16.1 %

Open, and how many seeds would settle it (an estimate)
load                    policy            less               difference  seeds now  seeds to settle
0.7   easy-malleable:max_mpl=4  fcfs-malleable  -0.475 [-3.453, +2.503]          4         about 63

)");
  EXPECT_NE(text.find("(6 of mean_wait)"), std::string::npos) << text;
}

TEST(AnswerText, SaysThatAllCellsAreDone) {
  const AnswerText answer = answer_of_study(test::made_study({"a", "b"}, {"0.6"}, {{{1, 2, 3}}, {{11, 12, 13.1}}}));
  EXPECT_EQ(answer.cells, (std::vector<std::string>{"All 6 cells are done, by version 1.0."}));
  EXPECT_TRUE(answer.is_whole);
  EXPECT_EQ(answer.metrics[0].verdict, "Best of 1 setting: a in 1; open in 0.");
  EXPECT_EQ(answer.metrics[0].tables[0].best, (std::vector<std::size_t>{0, 1})) << "the column of a";
}

// A failed cell would fail again: what it would bring is not to come.
TEST(AnswerText, CallsMarksProvisionalOnlyWhileCellsAreMissing) {
  StudyResults results = test::made_study({"a", "b"}, {"0.6"}, {{{1, 2, 3, 4}}, {{11, 12, 13.1, 14}}});
  results.cells.back().failure = "out of memory";
  EXPECT_EQ(text_of_study(results).find("provisional"), std::string::npos);
  EXPECT_EQ(text_of_study(results).find("so far of"), std::string::npos);
  results.metrics = {"shrinks"};
  for (CellResult& cell : results.cells) cell.metrics["shrinks"] = cell.metrics["mean_wait"];
  results.planned = 9;
  const AnswerText answer = answer_of_study(results);
  EXPECT_TRUE(answer.metrics[0].verdict.ends_with("1 of 1 differences between policies are settled so far."))
      << answer.metrics[0].verdict;
}

TEST(AnswerText, SaysWhatCleaningHasDone) {
  StudyResults results = test::made_study({"a", "b"}, {"0.6"}, {{{1, 2, 3}}, {{11, 12, 13.1}}});
  results.cells[0].cleaned = {.left_out = 30, .too_wide = 28};
  EXPECT_EQ(
      answer_of_study(results).cells.back(),
      "Cleaning has left out 30 records of the log in 1 cell; of these 28 jobs wider than the machine in 1 cell.");
  results.cells[1].cleaned = {.left_out = 5};
  results.cells[2].cleaned = {.narrowed = 7};
  results.cells[3].cleaned = {.narrowed = 7};
  const std::vector<std::string> cells = answer_of_study(results).cells;
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_TRUE(cells[1].starts_with("Cleaning has left out 5 to 30 records of the log in each of 2 cells; "))
      << cells[1];
  EXPECT_EQ(cells[2], "Cleaning has narrowed 7 jobs to the machine in each of 2 cells.");
}

TEST(AnswerText, SaysThatVersionsAreMixed) {
  StudyResults results = test::made_study({"a", "b"}, {"0.6"}, {{{1, 2}}, {{2, 4}}});
  results.cells[3].version = "1.1";
  const AnswerText answer = answer_of_study(results);
  EXPECT_FALSE(answer.is_whole);
  EXPECT_EQ(answer.cells.back(), "Computed by different versions: 3: 1.0; 1: 1.1.");
}

TEST(AnswerText, OfOnePolicyHasMeansOnly) {
  StudyResults results = test::made_study({"a"}, {"0.6", "0.7"}, {{{1, 2}, {3, 4}}});
  results.cells[3].metrics.clear();
  const AnswerText answer = answer_of_study(results);
  ASSERT_EQ(answer.metrics[0].tables.size(), 1u);
  EXPECT_EQ(answer.metrics[0].tables[0].rows,
            (std::vector<std::vector<std::string>>{{"load", "a"}, {"0.6", "1.5 +- 6.4"}, {"0.7", "3.0 (1)"}}));
  EXPECT_EQ(answer.metrics[0].verdict,
            "The study has one policy: there is nothing to compare it with. 1 cell is done without a value of this "
            "metric and left "
            "out.");
}

TEST(AnswerText, SaysWhatNoNumberOfSeedsWouldSettle) {
  const AnswerText answer =
      answer_of_study(test::made_study({"a", "b"}, {"0.6", "0.7"}, {{{1, 2, 3}, {1, 2, 3}}, {{1, 2, 3}, {2, 1, 3}}}));
  EXPECT_EQ(answer.metrics[0].verdict, "Best of 2 settings: no policy; the best are equal in 1; open in 1.");
  EXPECT_EQ(answer.metrics[0].tables[0].rows[1].back(), "equal");
  EXPECT_EQ(answer.metrics[0].tables[0].rows[2].back(), "open");
  EXPECT_EQ(answer.metrics[0].tables[1].rows[1].back(), "equal");
  const auto& open = answer.metrics[0].tables[2].rows;
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[1].front(), "0.7");
  EXPECT_EQ(open[1].back(), "more than 1000000");
}

}  // namespace
}  // namespace replay::sweep
