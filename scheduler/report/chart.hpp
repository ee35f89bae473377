// Two charts: bars side by side over labelled bins, and a series over time. Both have a title, axes with units, and series
// that can be told apart without colour: full against hatched bars, bars against a line with dots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/report/svg.hpp"

namespace replay::report {

struct Area {
  double x = 0, y = 0, width = 0, height = 0;  ///< of the whole chart, titles and labels included
};

struct BarSeries {
  std::string name;
  std::vector<double> values;
};

struct BarChart {
  std::string title, x_name, y_name;  ///< the names carry the unit: "share of jobs, %"
  std::vector<std::string> labels;    ///< one a bin; long ones are set upright
  std::vector<BarSeries> series;      ///< one to four, a value a bin
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

void draw(Svg& svg, const Area& area, const BarChart& chart);
void draw(Svg& svg, const Area& area, const TimeChart& chart);

/// The smallest of 1, 2, 2.5, 5, 10, 20, ... that cuts 0..`most` into at most `parts` steps. REQUIRES: most > 0.
[[nodiscard]] double nice_step(double most, int parts);

}  // namespace replay::report
