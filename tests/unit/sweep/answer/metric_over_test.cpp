// Tests of the figure of a metric over an axis: what is drawn, of which cells, and what is refused.
#include "scheduler/sweep/answer/metric_over.hpp"

#include <gtest/gtest.h>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/temporary_folder.hpp"
#include "scheduler/sweep/answer/sweep_csv.hpp"
#include "tests/support/shell.hpp"
#include "tests/unit/sweep/answer/made_study.hpp"

namespace replay::sweep {
namespace {

class MetricOverFigure : public testing::Test {
 protected:
  MetricOverFigure() {
    StudyResults study = test::empty_study({"easy", "fcfs-malleable"}, {"10", "9"}, 2);
    study.axes.push_back({"machine", {"big", "small"}});
    study.metrics = {"mean_wait", "utilisation"};
    for (const std::size_t policy : {0u, 1u})
      for (const std::size_t load : {0u, 1u})
        for (const std::size_t seed : {0u, 1u})
          for (const std::size_t machine : {0u, 1u})
            test::add_cell(study, {policy, load, seed, machine},
                           static_cast<double>(10 * policy + 4 * load + 2 * seed + machine))
                .metrics["utilisation"] = 0.8;
    study.cells.back().failure = "lost";
    write_sweep_csv(folder_ / "sweep.csv", study);
  }

  std::string drawn(const std::string& figure, std::vector<std::pair<std::string, std::string>> where = {}) {
    MetricOverOptions options = metric_over_named(figure).value();
    options.where = std::move(where);
    write_metric_over(folder_.path(), options, folder_ / "a.svg");
    return test::text_of(folder_ / "a.svg");
  }
  void expect_refused(const std::string& figure, const std::string& message,
                      std::vector<std::pair<std::string, std::string>> where = {}) {
    try {
      static_cast<void>(drawn(figure, std::move(where)));
      FAIL() << figure << " was drawn";
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string{error.what()}, message);
    }
  }

  TemporaryFolder folder_;
};

TEST_F(MetricOverFigure, HasACurveForEachPolicyAndAPanelForEachOtherValue) {
  testing::internal::CaptureStderr();
  const std::string svg = drawn("metric-over:load");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            (folder_ / "sweep.csv").string() + ": 1 cell has no value of mean_wait: left out of the figure\n");
  // Means over two seeds, and t of one degree times half of their distance; of what has lost a seed, its one value.
  for (const char* const part : {"aria-label=\"machine big\"", "aria-label=\"machine small\"",
                                 "aria-label=\"mean wait, s\"", "aria-label=\"load\"", "aria-label=\"easy\"",
                                 "aria-label=\"fcfs-malleable\"", "<title>easy, load 10: 1 +- 12.7, 2 seeds</title>",
                                 "<title>fcfs-malleable, load 9: 15 +- 12.7, 2 seeds</title>",
                                 "<title>fcfs-malleable, load 9: 15, 1 seed</title>"})
    EXPECT_NE(svg.find(part), std::string::npos) << part << " in\n" << svg;
  EXPECT_LT(svg.find("<title>easy, load 9: "), svg.find("<title>easy, load 10: ")) << "from left to right";
  EXPECT_EQ(drawn("metric-over:load"), svg);
}

TEST_F(MetricOverFigure, HasOnlyTheCellsAskedFor) {
  const std::string svg = drawn("metric-over:load:utilisation", {{"machine", "big"}, {"policy", "fcfs-malleable"}});
  EXPECT_EQ(svg.find("aria-label=\"easy\""), std::string::npos);
  EXPECT_EQ(svg.find("small"), std::string::npos);
  EXPECT_NE(svg.find("<title>fcfs-malleable, load 9: 0.8 +- 0, 2 seeds</title>"), std::string::npos) << svg;
}

TEST_F(MetricOverFigure, TakesNumbersHoweverTheyAreWritten) {
  EXPECT_EQ(drawn("metric-over:load:utilisation", {{"load", "9.0"}, {"load", "1e1"}, {"machine", "big"}}),
            drawn("metric-over:load:utilisation", {{"load", "9"}, {"load", "10"}, {"machine", "big"}}));
}

TEST(MetricOverAxis, IsLogarithmicOverTwoDecadesAndCutsWhatIsBelow) {
  const StudyComparison study =
      compare(test::made_study({"a", "b"}, {"1", "2"}, {{{1, 3}, {2, 2}}, {{250, 251}, {300, 301}}}));
  const MetricOver figure = metric_over(study, study.metrics[0], 0);
  const report::Layout layout = layout_of(figure);
  EXPECT_TRUE(layout.panels[0].y.is_logarithmic);
  EXPECT_EQ(layout.panels[0].y.low, 1) << "half of the least mean; the interval of 1 and 3 goes down to -10.7";
  const std::string svg = report::draw_layout(layout, {}, "", "", "a.svg");
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
}

TEST_F(MetricOverFigure, IsAPdfToo) {
  write_metric_over(folder_ / "sweep.csv", metric_over_named("metric-over:load").value(), folder_ / "a.pdf");
  EXPECT_EQ(test::text_of(folder_ / "a.pdf").substr(0, 5), "%PDF-");
}

TEST_F(MetricOverFigure, SaysWhatItExpects) {
  EXPECT_FALSE(metric_over_named("gantt"));
  EXPECT_THROW(static_cast<void>(metric_over_named("metric-over")), UsageError);
  EXPECT_THROW(static_cast<void>(metric_over_named("metric-over:load:")), UsageError);
  expect_refused("metric-over:lod",
                 "--figure metric-over: expected an axis of the study, found 'lod'; did you mean 'load'?");
  for (const char* const name : {"policy", "seed"})
    expect_refused(
        fmt::format("metric-over:{}", name),
        fmt::format("--figure metric-over: expected another axis than policy, whose values are the curves, and "
                    "seed, over which means are taken, found '{}'",
                    name));
  expect_refused("metric-over:load:mean_wai",
                 "--figure metric-over: expected a metric of the study, found 'mean_wai'; did you mean 'mean_wait'?");
  expect_refused("metric-over:machine",
                 "--figure metric-over: expected an axis of two numbers or more, found machine with big, small");
  expect_refused("metric-over:load",
                 "--where: expected an axis of the study, found 'size'; known: policy, load, seed, machine",
                 {{"size", "4"}});
  expect_refused("metric-over:load", "--where: expected a value of load of the study, found '11'; known: 9, 10",
                 {{"load", "11"}});
  EXPECT_THROW(write_metric_over(folder_ / "nowhere", {.axis = "load"}, "a.svg"), InputError);
  EXPECT_THROW(write_metric_over(folder_.path(), {.axis = "load"}, "a.png"), UsageError);
  EXPECT_THROW(write_metric_over(folder_.path(), {.axis = "load", .labels = {"one"}}, "a.svg"), UsageError);
}

}  // namespace
}  // namespace replay::sweep
