#include "scheduler/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "scheduler/report/draw/axis.hpp"
#include "scheduler/report/draw/hatch.hpp"
#include "scheduler/report/draw/legend.hpp"

namespace replay::report {
namespace {

constexpr Colour kBlue = Colour::of(0x1f5a93);
constexpr Colour kOrange = Colour::of(0xc2571a);
constexpr Colour kLight = Colour::of(0x9dbfdd);
constexpr Colour kGreen = Colour::of(0x3c7d3c);
constexpr Colour kGrid = Colour::of(0xdddddd);
constexpr Colour kAxis = Colour::of(0x444444);
constexpr double kTitle = 15, kName = 12, kSmall = 11;

// What fills a bar.
struct Filling {
  Colour colour;
  bool is_hatched = false;
};
// In the order of the series: two that stand beside each other differ without colour.
constexpr Filling kFillings[] = {{kBlue}, {kOrange, true}, {kLight}, {kGreen, true}};

void fill_bar(Canvas& canvas, const Box& box, const Filling& with) {
  if (!with.is_hatched) {
    canvas.fill(box, with.colour);
    return;
  }
  canvas.fill(box, kWhite);
  hatch(canvas, std::span(&box, 1), {.stroke = {.colour = with.colour, .width = 2.5}, .spacing = 7});
}

// Where values are drawn: the chart without its titles and labels.
struct ChartFrame {
  double left, top, right, bottom;
  double most;  // value at the top
  [[nodiscard]] double y(double value) const { return bottom - (bottom - top) * std::min(value, most) / most; }
  [[nodiscard]] Box bar(double x, double width, double value) const { return {x, y(value), width, bottom - y(value)}; }
};

double largest(const std::vector<double>& values) { return values.empty() ? 0 : std::ranges::max(values); }

double widest(const Canvas& canvas, const std::vector<std::string>& labels) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, canvas.width_of(label, kSmall));
  return width;
}

// With the legend between the title and the plot.
ChartFrame draw_frame(Canvas& canvas, const Box& area, std::string_view title, std::string_view x_name,
                      std::string_view y_name, double most_value, double room_for_labels,
                      std::span<const LegendEntry> legend) {
  constexpr double kLeft = 62, kRight = 6;
  const double legend_width = area.width - kLeft - kRight;
  canvas.text({area.x, area.y + 16}, title, {.size = kTitle});
  draw_legend(canvas, {area.x + kLeft, area.y + 26}, legend, legend_width, kName);
  const double most_or_one = most_value > 0 ? most_value : 1;
  const double step = nice_step(most_or_one, 5);
  const ChartFrame frame{
      .left = area.x + kLeft,
      .top = area.y + 34 + std::max(legend_height(canvas.font(), legend, legend_width, kName), kName),
      .right = area.right() - kRight,
      .bottom = area.bottom() - 24 - room_for_labels,
      .most = std::ceil(most_or_one / step - 1e-9) * step};
  for (int i = 0; step * i <= frame.most * (1 + 1e-9); ++i) {
    const double value = step * i;
    canvas.line({frame.left, frame.y(value)}, {frame.right, frame.y(value)}, {.colour = kGrid, .width = 1});
    canvas.text({frame.left - 6, frame.y(value) + 4}, fmt::format("{:.6g}", value),
                {.size = kSmall, .anchor = Anchor::kEnd});
  }
  canvas.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, {.colour = kAxis, .width = 1});
  canvas.text({area.x + 14, (frame.top + frame.bottom) / 2}, y_name,
              {.size = kName, .anchor = Anchor::kMiddle, .is_upright = true});
  canvas.text({(frame.left + frame.right) / 2, area.bottom() - 6}, x_name, {.size = kName, .anchor = Anchor::kMiddle});
  return frame;
}

LegendEntry box_entry(std::string name, const Filling& filling) {
  return {std::move(name), [filling](Canvas& canvas, const Box& box) { fill_bar(canvas, box, filling); }};
}

LegendEntry line_entry(std::string name, const Stroke& stroke, bool has_dot) {
  return {std::move(name), [stroke, has_dot](Canvas& canvas, const Box& box) {
            const double y = box.y + box.height / 2;
            canvas.line({box.x, y}, {box.right(), y}, stroke);
            if (has_dot) canvas.fill_circle({box.x + box.width / 2, y}, 2.5, stroke.colour);
          }};
}

}  // namespace

void draw(Canvas& canvas, const Box& area, const BarChart& chart) {
  const auto bins = static_cast<double>(chart.labels.size());
  const double longest = widest(canvas, chart.labels);
  double most = 0;
  std::vector<LegendEntry> legend;
  for (const BarSeries& series : chart.series) {
    most = std::max(most, largest(series.values));
    if (chart.series.size() > 1)
      legend.push_back(box_entry(series.name, kFillings[legend.size() % std::size(kFillings)]));
  }
  const bool is_upright = longest + 4 > (area.width - 68) / bins;
  const ChartFrame frame =
      draw_frame(canvas, area, chart.title, chart.x_name, chart.y_name, most, is_upright ? longest + 14 : 22, legend);
  const double pitch = (frame.right - frame.left) / bins;
  const double bar = pitch * 0.8 / static_cast<double>(chart.series.size());
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    const double left = frame.left + pitch * (static_cast<double>(i) + 0.1);
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.series[s].values.at(i);
      canvas.begin_tip(fmt::format("{}, {}: {:.3g}", chart.labels[i], chart.series[s].name, value));
      fill_bar(canvas, frame.bar(left + bar * static_cast<double>(s), bar, value), kFillings[s % std::size(kFillings)]);
      canvas.end_tip();
    }
    const double middle = frame.left + pitch * (static_cast<double>(i) + 0.5);
    if (is_upright)
      canvas.text({middle + 4, frame.bottom + 6}, chart.labels[i],
                  {.size = kSmall, .anchor = Anchor::kEnd, .is_upright = true});
    else
      canvas.text({middle, frame.bottom + 16}, chart.labels[i], {.size = kSmall, .anchor = Anchor::kMiddle});
  }
}

void draw(Canvas& canvas, const Box& area, const TimeChart& chart) {
  const auto periods = static_cast<double>(std::max<std::size_t>(chart.bars.size(), 1));
  const double most = std::max({largest(chart.bars), largest(chart.line), chart.mark.value_or(0) * 1.05});
  const Stroke line{.colour = kOrange, .width = 1.5};
  const Stroke mark{.colour = {}, .width = 1.2, .dashes = {7, 4}};
  const bool has_dots = area.width / periods >= 6, has_line = !chart.line.empty();
  std::vector<LegendEntry> legend{box_entry(chart.bars_name, {kLight})};
  if (has_line) legend.push_back(line_entry(chart.line_name, line, has_dots));
  if (chart.mark) legend.push_back(line_entry(chart.mark_name, mark, false));
  const ChartFrame frame = draw_frame(canvas, area, chart.title, chart.x_name, chart.y_name, most, 22, legend);
  const double pitch = (frame.right - frame.left) / periods;
  const auto middle = [&](std::size_t i) { return frame.left + pitch * (static_cast<double>(i) + 0.5); };
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    canvas.begin_tip(fmt::format("{}: {:.3g}", chart.labels.at(i), chart.bars[i]));
    canvas.fill(frame.bar(frame.left + pitch * static_cast<double>(i), std::max(pitch * 0.92, 0.3), chart.bars[i]),
                kLight);
    canvas.end_tip();
  }
  Polyline points;
  for (std::size_t i = 0; i < chart.line.size(); ++i) points.push_back({middle(i), frame.y(chart.line[i])});
  canvas.stroke(std::span(&points, 1), line);
  if (has_dots)
    for (const Point& point : points) canvas.fill_circle(point, 2, kOrange);
  if (chart.mark) canvas.line({frame.left, frame.y(*chart.mark)}, {frame.right, frame.y(*chart.mark)}, mark);

  const double longest = widest(canvas, chart.labels);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil((longest + 14) / pitch)));
  for (std::size_t i = 0; i < chart.labels.size(); i += every) {
    const double half = longest / 2;
    if (middle(i) + half > frame.right + 6 && i > 0) break;
    canvas.line({middle(i), frame.bottom}, {middle(i), frame.bottom + 4}, {.colour = kAxis, .width = 1});
    canvas.text({std::max(middle(i), frame.left + half - 20), frame.bottom + 17}, chart.labels[i],
                {.size = kSmall, .anchor = Anchor::kMiddle});
  }
}

}  // namespace replay::report
