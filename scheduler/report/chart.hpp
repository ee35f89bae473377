// Two charts: bars side by side over labelled bins, and a series over time. Both have a title, axes with units, and series
// that can be told apart without colour: full against hatched bars, bars against a line with dots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

struct BarSeries {
  std::string name;
  std::vector<double> values{};
};

struct BarChart {
  std::string title, x_name, y_name;  ///< the names carry the unit: "share of jobs, %"
  std::vector<std::string> labels{};  ///< one a bin; long ones are set upright
  std::vector<BarSeries> series{};    ///< one to four, a value a bin
};

struct TimeChart {
  std::string title, x_name, y_name;
  std::vector<std::string> labels;  ///< one a period; as many are written as there is room for
  std::vector<double> bars;         ///< one a period
  std::string bars_name;
  std::vector<double> line;  ///< one a period, or empty
  std::string line_name;
  std::optional<double> mark;  ///< a dashed line across
  std::string mark_name;
};

/// `area` is that of the whole chart, titles and labels included.
void draw(Canvas& canvas, const Box& area, const BarChart& chart);
void draw(Canvas& canvas, const Box& area, const TimeChart& chart);

}  // namespace replay::report
