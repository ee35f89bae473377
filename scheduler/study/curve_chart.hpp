// Chart of several curves over one axis: ours as full lines with dots, the paper's dashed with squares, in the colour
// of the curve that they belong to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::study {

struct Curve {
  std::string name;
  std::vector<report::Point> points{};  ///< in the order in which they are joined
  bool is_paper = false;
  std::size_t colour = 0;  ///< curves of one number have one colour
};

struct CurveChart {
  std::string title, x_name, y_name;  ///< the names carry the unit
  std::vector<Curve> curves{};
  bool from_zero = true;  ///< of the y axis; false: from just below the lowest point
};

void draw(report::Canvas& canvas, const report::Box& area, const CurveChart& chart);

}  // namespace replay::study
