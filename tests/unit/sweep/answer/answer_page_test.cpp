// Tests of the page of a study, and of the three files together.
#include "scheduler/sweep/answer/answer_page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/sweep/answer/answer.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/sweep/answer/made_study.hpp"

namespace replay::sweep {
namespace {

StudyResults drawn_study() {
  StudyResults results = test::made_study({"easy", "fcfs<malleable>"}, {"0.6", "0.7"},
                                          {{{50, 60, 70}, {60, 70, 80}}, {{40.1, 50, 59.9}, {61, 50, 70}}});
  results.name = "one & two";
  return results;
}

std::string page_of(const StudyResults& results) {
  const StudyComparison comparison = compare(results);
  return to_html(answer_of(results, comparison), comparison);
}

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

void expect_in(const std::string& page, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) EXPECT_NE(page.find(part), std::string::npos) << part << " in\n" << page;
}

TEST(AnswerPage, HasTheAnswerFirstThenTablesAndAFigureForEachAxis) {
  const std::string page = page_of(drawn_study());
  expect_in(
      page,
      {"<h1>one &amp; two</h1>", "All 12 cells are done, by version 1.0.", "<th scope=\"row\" class=\"name\">",
       "fcfs&lt;malleable&gt;",
       "<li><a href=\"#mean_wait\">mean_wait</a>: Best of 2 settings: fcfs&lt;malleable&gt; in 1; open in 1.</li>",
       "<td class=\"best\">50 ± 25</td>", "<td class=\"open\">open</td>", "mean_wait over load, with 95 % intervals",
       "fcfs&lt;malleable&gt;, load 0.7: 60.3333 +- 24.9, 3 seeds", "What the numbers mean"});
  EXPECT_LT(page.find("Best of 2 settings"), page.find("<table>"));
  EXPECT_LT(page.find("<table>"), page.find("<figure>"));
  EXPECT_EQ(times(page, "<figure>"), 1u);
  for (const char* const foreign : {"<script", "src=", "url(", "@import", "href=\"http"})
    EXPECT_EQ(page.find(foreign), std::string::npos) << "the page is self-contained: " << foreign;
}

TEST(AnswerPage, WarnsAboveAllOfWhatIsMissing) {
  StudyResults results = drawn_study();
  results.cells.back().failure = "<out of memory>";
  results.cells.erase(results.cells.begin());
  const std::string page = page_of(results);
  expect_in(page, {"<div class=\"warn\">\n<p>10 of 12 cells are done, by version 1.0; 1 failed, 1 "
                   "missing.</p>\n<p>Failed: 1: &lt;out "
                   "of memory&gt;.</p>"});
}

TEST(AnswerPage, HasAPanelForEachValueOfTheOtherAxes) {
  StudyResults results = drawn_study();
  results.axes.push_back({"malleable", {"0", "0.5", "1"}});
  std::vector<CellResult> cells;
  for (const CellResult& cell : results.cells)
    for (std::size_t share = 0; share < 3; ++share) {
      cells.push_back(cell);
      cells.back().values.push_back(share);
    }
  results.cells = cells;
  results.planned = cells.size();
  const std::string page = page_of(results);
  EXPECT_EQ(times(page, "<figure>"), 3u + 2u) << "over load, and over malleable";
  expect_in(page, {"<figcaption>malleable 0.5</figcaption>", "<figcaption>load 0.7</figcaption>"});
}

TEST(AnswerPage, SaysWhatIsNotDrawn) {
  StudyResults many = test::made_study({"1", "2", "3", "4", "5", "6", "7", "8", "9"}, {"0.6", "0.7"},
                                       std::vector<std::vector<std::vector<double>>>(9, {{1, 2}, {2, 3}}));
  expect_in(page_of(many), {"Not drawn: 9 policies are more than can be told apart in one figure (8)."});
  StudyResults none = drawn_study();
  for (CellResult& cell : none.cells) cell.failure = "no reason";
  EXPECT_EQ(times(page_of(none), "<figure>"), 0u);
}

TEST(Answer, IsThreeFilesThatAreTheSameBytesInWhateverOrderTheCellsCome) {
  const TemporaryFolder folder;
  StudyResults results = drawn_study();
  const std::string table = write_answer(folder.path(), results);
  EXPECT_EQ(test::text_of(folder / "table.txt"), table);
  const std::string page = test::text_of(folder / "report.html"), csv = test::text_of(folder / "sweep.csv");
  EXPECT_EQ(times(csv, "\n"), 13u);
  std::ranges::rotate(results.cells, results.cells.begin() + 5);
  EXPECT_EQ(write_answer(folder.path(), results), table);
  EXPECT_EQ(test::text_of(folder / "report.html"), page);
  EXPECT_EQ(test::text_of(folder / "sweep.csv"), csv);
}

}  // namespace
}  // namespace replay::sweep
