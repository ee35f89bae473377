// Tests of the charts of pages: series differ without colour, and names keep inside.
#include "scheduler/report/chart.hpp"

#include <gtest/gtest.h>

#include "scheduler/report/draw/svg_canvas.hpp"

namespace replay::report {
namespace {

TEST(Charts, TwoSeriesDifferWithoutColour) {
  const BarChart chart{.title = "T",
                       .x_name = "x",
                       .y_name = "y, %",
                       .labels = {"a", "b"},
                       .series = {{"jobs", {1, 2}}, {"work", {3, 4}}}};
  SvgCanvas canvas(600, 300);
  draw(canvas, {.x = 0, .y = 0, .width = 600, .height = 300}, chart);
  const std::string text = canvas.finish("t");
  EXPECT_NE(text.find("stroke=\"#c2571a\" stroke-width=\"2.5\""), std::string::npos);  // the hatch of the second
  EXPECT_NE(text.find("<title>b, work: 4</title>"), std::string::npos);
  for (const char* const words : {"T", "x", "y, %", "jobs", "work", "a", "b"})
    EXPECT_NE(text.find("aria-label=\"" + std::string{words} + "\""), std::string::npos) << words;
}

TEST(Charts, NamesOfFourSeriesWrapAndKeepInsideTheChart) {
  const std::string name(30, 'n');
  SvgCanvas canvas(600, 300);
  draw(canvas, {.x = 0, .y = 0, .width = 600, .height = 300},
       BarChart{.title = "T",
                .x_name = "x",
                .y_name = "y",
                .labels = {"a"},
                .series = {{name, {1}}, {name, {2}}, {name, {3}}, {name, {4}}}});
  const std::string text = canvas.finish("t");
  std::size_t lines = 0, names = 0;
  std::string last;
  for (std::size_t at = text.find("\"" + name + "\""); at != std::string::npos;
       at = text.find("\"" + name + "\"", at + 1)) {
    const std::size_t place = text.find("translate(", at) + 10, blank = text.find(' ', place);
    EXPECT_LT(std::stod(text.substr(place)) + canvas.width_of(name, 12), 600);
    const std::string height = text.substr(blank, text.find(')', blank) - blank);
    if (height != last) ++lines;
    last = height;
    ++names;
  }
  EXPECT_EQ(names, 4u);
  EXPECT_EQ(lines, 2u);
}

}  // namespace
}  // namespace replay::report
