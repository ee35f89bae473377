#include "scheduler/study/curve_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace replay::study {
namespace {

using report::Anchor;
using report::Area;
using report::Point;
using report::Stroke;
using report::Svg;

constexpr std::array<std::string_view, 6> kColours{"#1f5a93", "#c2571a", "#3c7d3c", "#7d3c98", "#8a6d1a", "#555555"};
constexpr std::string_view kGrid = "#dddddd";
constexpr std::string_view kAxis = "#444444";
constexpr double kCharacter = 0.56;  // width of a character, of the font's size
constexpr double kSmall = 11, kLegend = 12, kLegendLine = 16;

// Where values of an axis lie: from `low` to `high`, in steps.
struct Axis {
  double low = 0, high = 1, step = 1;
  [[nodiscard]] double share(double value) const { return (value - low) / (high - low); }
};

Axis axis_over(double least, double most, bool from_zero, bool whole_steps) {
  if (from_zero) least = std::min(least, 0.0);
  if (most <= least) most = least + 1;
  Axis axis{.low = least, .high = most, .step = report::nice_step(most - least, 5)};
  if (!whole_steps) return axis;
  axis.low = std::floor(least / axis.step + 1e-9) * axis.step;
  axis.high = std::ceil(most / axis.step - 1e-9) * axis.step;
  return axis;
}

struct Plot {
  double left, top, right, bottom;
  Axis x, y;
  [[nodiscard]] Point at(const Point& value) const {
    return {left + (right - left) * x.share(value.x), bottom - (bottom - top) * y.share(value.y)};
  }
};

Stroke stroke_of(const Curve& curve) {
  return {.colour = kColours[curve.colour % kColours.size()],
          .width = curve.is_paper ? 1.3 : 1.8,
          .dashes = curve.is_paper ? "5 4" : ""};
}

void draw_mark(Svg& svg, const Point& at, const Curve& curve) {
  const std::string_view colour = kColours[curve.colour % kColours.size()];
  if (curve.is_paper)
    svg.rectangle(at.x - 2.5, at.y - 2.5, 5, 5, colour);
  else
    svg.circle(at, 3, colour);
}

// Draws as many names in a line as there is room for. Returns the height of all lines.
double draw_legend(Svg& svg, const Area& area, double left, double right, const std::vector<Curve>& curves) {
  double x = left, y = area.y + 36;
  for (const Curve& curve : curves) {
    const double width = 31 + static_cast<double>(curve.name.size()) * kLegend * kCharacter + 18;
    if (x > left && x + width - 18 > right) x = left, y += kLegendLine;
    svg.line({x, y - 4}, {x + 26, y - 4}, stroke_of(curve));
    draw_mark(svg, {x + 13, y - 4}, curve);
    svg.text(x + 31, y, curve.name, {.size = kLegend});
    x += width;
  }
  return y - area.y - 36 + kLegendLine;
}

void draw_axes(Svg& svg, const Area& area, const CurveChart& chart, const Plot& plot) {
  for (double y = plot.y.low; y <= plot.y.high + plot.y.step * 1e-6; y += plot.y.step) {
    const Point at = plot.at({plot.x.low, y});
    svg.line(at, {plot.right, at.y}, {.colour = kGrid});
    svg.text(plot.left - 6, at.y + 4, fmt::format("{:.6g}", std::abs(y) < plot.y.step * 1e-6 ? 0.0 : y),
             {.size = kSmall, .anchor = Anchor::kEnd});
  }
  for (double x = std::ceil(plot.x.low / plot.x.step - 1e-9) * plot.x.step; x <= plot.x.high + plot.x.step * 1e-6;
       x += plot.x.step) {
    const Point at = plot.at({x, plot.y.low});
    svg.line({at.x, plot.bottom}, {at.x, plot.bottom + 4}, {.colour = kAxis});
    svg.text(at.x, plot.bottom + 17, fmt::format("{:.6g}", std::abs(x) < plot.x.step * 1e-6 ? 0.0 : x),
             {.size = kSmall, .anchor = Anchor::kMiddle});
  }
  svg.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, {.colour = kAxis});
  svg.text(area.x + 14, (plot.top + plot.bottom) / 2, chart.y_name,
           {.size = 12, .anchor = Anchor::kMiddle, .is_upright = true});
  svg.text((plot.left + plot.right) / 2, area.y + area.height - 6, chart.x_name,
           {.size = 12, .anchor = Anchor::kMiddle});
}

}  // namespace

void draw(Svg& svg, const Area& area, const CurveChart& chart) {
  constexpr double kMost = std::numeric_limits<double>::max();
  Point least{kMost, kMost}, most{-kMost, -kMost};
  for (const Curve& curve : chart.curves)
    for (const Point& point : curve.points) {
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
  svg.text(area.x, area.y + 16, chart.title, {.size = 15, .is_bold = true});
  if (most.x < least.x) {
    svg.text(area.x, area.y + 40, "Nothing to draw.", {.size = 13});
    return;
  }
  const double left = area.x + 62, right = area.x + area.width - 14;
  const double legend_height = draw_legend(svg, area, left, right, chart.curves);
  const Plot plot{.left = left,
                  .top = area.y + 36 + legend_height,
                  .right = right,
                  .bottom = area.y + area.height - 46,
                  .x = axis_over(least.x, most.x, false, false),
                  .y = axis_over(least.y, most.y, chart.from_zero, true)};
  draw_axes(svg, area, chart, plot);
  for (const Curve& curve : chart.curves) {
    std::vector<Point> points;
    for (const Point& point : curve.points) points.push_back(plot.at(point));
    if (points.size() > 1) svg.path(points, stroke_of(curve));
    for (const Point& point : points) draw_mark(svg, point, curve);
  }
}

}  // namespace replay::study
