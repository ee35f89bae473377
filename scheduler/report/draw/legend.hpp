// The look of several curves or areas in one figure, told apart by dashes, markers and lightness as well as by colour; and the
// legend that names them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

/// Curves that can be told apart in one figure.
inline constexpr std::size_t kMostCurves = 8;

/// The line of curve `number`, modulo kMostCurves. The colours are those of Okabe and Ito (2008), darkened where they are light.
[[nodiscard]] Stroke curve_stroke(std::size_t number);
/// A small mark of the curve's colour; its shape differs from curve to curve.
void draw_marker(Canvas& canvas, Point at, std::size_t number);

struct LegendEntry {
  std::string name;
  /// Draws the sample into the box, which is 18 wide and 6 high.
  std::function<void(Canvas& canvas, const Box& box)> sample;
};

/// Of curve `number`: its line with a mark.
[[nodiscard]] LegendEntry marked_curve_entry(std::string name, std::size_t number);

/// Of so many entries in so wide a place; as many in a line as there is room for.
[[nodiscard]] double legend_height(const Font& font, std::span<const LegendEntry> entries, double width, double size);
/// `at` is the upper left corner. A name that is wider than a line is cut.
void draw_legend(Canvas& canvas, Point at, std::span<const LegendEntry> entries, double width, double size);

}  // namespace replay::report
