// Tests of drawings: text from headers cannot break them, and axes have steps that are easy to read.
#include "scheduler/report/svg.hpp"

#include <gtest/gtest.h>

#include "scheduler/report/chart.hpp"

namespace replay::report {
namespace {

TEST(Svg, TextOfOthersIsTextAndNothingElse) {
  EXPECT_EQ(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(escaped("Ume\xC3\xA5 \xE5 \x01"), "Ume\xC3\xA5 ? ?");
  EXPECT_EQ(escaped("\xE2\x82"), "??");
  Svg svg(10, 10);
  svg.text(1, 2, "</text><script>");
  EXPECT_EQ(svg.finish("t").find("<script>"), std::string::npos);
}

TEST(Charts, StepsAreRoundAndFew) {
  EXPECT_DOUBLE_EQ(nice_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(101, 5), 25);
  EXPECT_DOUBLE_EQ(nice_step(5, 5), 1);
  EXPECT_DOUBLE_EQ(nice_step(0.03, 5), 0.01);
  EXPECT_DOUBLE_EQ(nice_step(600, 5), 200);
}

TEST(Charts, TwoSeriesDifferWithoutColour) {
  Svg svg(600, 300);
  draw(svg, {.x = 0, .y = 0, .width = 600, .height = 300},
       BarChart{.title = "T",
                .x_name = "x",
                .y_name = "y, %",
                .labels = {"a", "b"},
                .series = {{"jobs", {1, 2}}, {"work", {3, 4}}}});
  const std::string text = svg.finish("t");
  EXPECT_NE(text.find("<pattern"), std::string::npos);
  for (const char* const words : {">T<", ">x<", ">y, %<", ">jobs<", ">work<", ">a<", ">b<"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
}

TEST(Charts, NamesOfFourSeriesWrapAndKeepInsideTheChart) {
  Svg svg(600, 300);
  const std::string name(30, 'n');
  draw(svg, {.x = 0, .y = 0, .width = 600, .height = 300},
       BarChart{.title = "T",
                .x_name = "x",
                .y_name = "y",
                .labels = {"a"},
                .series = {{name, {1}}, {name, {2}}, {name, {3}}, {name, {4}}}});
  const std::string text = svg.finish("t");
  std::size_t lines = 0, at = 0;
  std::string last;
  while ((at = text.find(">" + name + "<", at + 1)) != std::string::npos) {
    const std::size_t y = text.rfind("y=\"", at);
    const std::string height = text.substr(y, text.find('"', y + 3) - y);
    if (height != last) ++lines;
    last = height;
  }
  EXPECT_EQ(lines, 2u);
}

}  // namespace
}  // namespace replay::report
