#include "scheduler/study/curve_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "scheduler/report/draw/axis.hpp"
#include "scheduler/report/draw/legend.hpp"

namespace replay::study {
namespace {

using report::Anchor;
using report::Box;
using report::Canvas;
using report::Colour;
using report::LegendEntry;
using report::Point;
using report::Stroke;

constexpr std::array<Colour, 6> kColours{Colour::of(0x1f5a93), Colour::of(0xc2571a), Colour::of(0x3c7d3c),
                                         Colour::of(0x7d3c98), Colour::of(0x8a6d1a), Colour::of(0x555555)};
constexpr Colour kGrid = Colour::of(0xdddddd);
constexpr Colour kAxis = Colour::of(0x444444);
constexpr double kTitle = 15, kName = 12, kSmall = 11;

// From `least` to `most`, with steps for grid lines and labels.
report::Axis curve_axis(double least, double most, bool from_zero, bool whole_steps) {
  if (from_zero) least = std::min(least, 0.0);
  if (most <= least) most = least + 1;
  return report::span_axis("", least, most, 5, whole_steps);
}

Stroke stroke_of(const Curve& curve) {
  return {.colour = kColours[curve.colour % kColours.size()],
          .width = curve.is_paper ? 1.3 : 1.8,
          .dashes = curve.is_paper ? report::Dashes{5, 4} : report::Dashes{}};
}

void draw_mark(Canvas& canvas, const Point& at, const Curve& curve) {
  const Colour colour = kColours[curve.colour % kColours.size()];
  if (curve.is_paper)
    canvas.fill({at.x - 2.5, at.y - 2.5, 5, 5}, colour);
  else
    canvas.fill_circle(at, 3, colour);
}

LegendEntry entry_of(const Curve& curve) {
  return {curve.name, [&curve](Canvas& canvas, const Box& box) {
            const double y = box.y + box.height / 2;
            canvas.line({box.x, y}, {box.right(), y}, stroke_of(curve));
            draw_mark(canvas, {box.x + box.width / 2, y}, curve);
          }};
}

void draw_curve_axes(Canvas& canvas, const Box& area, const CurveChart& chart, const report::Plot& plot) {
  const double left = plot.area.x, bottom = plot.area.bottom();
  for (const report::Tick& tick : plot.y.ticks) {
    const double y = plot.at_y(tick.value);
    canvas.line({left, y}, {plot.area.right(), y}, {.colour = kGrid, .width = 1});
    canvas.text({left - 6, y + 4}, tick.label, {.size = kSmall, .anchor = Anchor::kEnd});
  }
  for (const report::Tick& tick : plot.x.ticks) {
    const double x = plot.at_x(tick.value);
    canvas.line({x, bottom}, {x, bottom + 4}, {.colour = kAxis, .width = 1});
    canvas.text({x, bottom + 17}, tick.label, {.size = kSmall, .anchor = Anchor::kMiddle});
  }
  canvas.line({left, bottom}, {plot.area.right(), bottom}, {.colour = kAxis, .width = 1});
  canvas.text({area.x + 14, plot.area.y + plot.area.height / 2}, chart.y_name,
              {.size = kName, .anchor = Anchor::kMiddle, .is_upright = true});
  canvas.text({left + plot.area.width / 2, area.bottom() - 6}, chart.x_name,
              {.size = kName, .anchor = Anchor::kMiddle});
}

}  // namespace

void draw(Canvas& canvas, const Box& area, const CurveChart& chart) {
  constexpr double kMost = std::numeric_limits<double>::max();
  Point least{kMost, kMost}, most{-kMost, -kMost};
  for (const Curve& curve : chart.curves)
    for (const Point& point : curve.points) {
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
  canvas.text({area.x, area.y + 16}, chart.title, {.size = kTitle});
  if (most.x < least.x) {
    canvas.text({area.x, area.y + 40}, "Nothing to draw.", {.size = 13});
    return;
  }
  const double left = area.x + 62, right = area.right() - 14;
  std::vector<LegendEntry> legend;
  for (const Curve& curve : chart.curves) legend.push_back(entry_of(curve));
  report::draw_legend(canvas, {left, area.y + 24}, legend, right - left, kName);
  const double top = area.y + 36 + report::legend_height(canvas.font(), legend, right - left, kName);
  const report::Plot plot{.area = {left, top, right - left, area.bottom() - 46 - top},
                          .x = curve_axis(least.x, most.x, false, false),
                          .y = curve_axis(least.y, most.y, chart.from_zero, true)};
  draw_curve_axes(canvas, area, chart, plot);
  for (const Curve& curve : chart.curves) {
    report::Polyline points;
    for (const Point& point : curve.points) points.push_back(plot.at(point));
    canvas.stroke(std::span(&points, 1), stroke_of(curve));
    for (const Point& point : points) draw_mark(canvas, point, curve);
  }
}

}  // namespace replay::study
