#include "scheduler/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replay::report {
namespace {

constexpr std::string_view kBlue = "#1f5a93";
constexpr std::string_view kOrange = "#c2571a";
constexpr std::string_view kLight = "#9dbfdd";
constexpr std::string_view kGreen = "#3c7d3c";
constexpr std::string_view kGrid = "#dddddd";
constexpr std::string_view kAxis = "#444444";
constexpr double kCharacter = 0.58;  // width of a character, of the font's size; wide fonts included
constexpr double kSmall = 11;

double width_of(std::string_view text, double size) {
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<double>(std::ranges::count_if(text, is_start)) * size * kCharacter;
}

// Where values are drawn: the chart without its titles and labels.
struct Plot {
  double left, top, right, bottom;
  double most;  // value at the top
  [[nodiscard]] double y(double value) const { return bottom - (bottom - top) * std::min(value, most) / most; }
};

double largest(const std::vector<double>& values) { return values.empty() ? 0 : std::ranges::max(values); }

// `legend_height`: of what is above the plot beyond the first line of names.
Plot draw_frame(Svg& svg, const Area& area, std::string_view title, std::string_view x_name, std::string_view y_name,
                double most_value, double room_for_labels, double legend_height = 0) {
  svg.text(area.x, area.y + 16, title, {.size = 15, .is_bold = true});
  const double most_or_one = most_value > 0 ? most_value : 1;
  const double step = nice_step(most_or_one, 5);
  Plot plot{.left = area.x + 62,
            .top = area.y + 50 + legend_height,
            .right = area.x + area.width - 6,
            .bottom = area.y + area.height - 24 - room_for_labels,
            .most = std::ceil(most_or_one / step - 1e-9) * step};
  for (int i = 0; step * i <= plot.most * (1 + 1e-9); ++i) {
    const double value = step * i;
    svg.line({plot.left, plot.y(value)}, {plot.right, plot.y(value)}, {.colour = kGrid});
    svg.text(plot.left - 6, plot.y(value) + 4, fmt::format("{:.6g}", value), {.size = kSmall, .anchor = Anchor::kEnd});
  }
  svg.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, {.colour = kAxis});
  svg.text(area.x + 14, (plot.top + plot.bottom) / 2, y_name,
           {.size = 12, .anchor = Anchor::kMiddle, .is_upright = true});
  svg.text((plot.left + plot.right) / 2, area.y + area.height - 6, x_name, {.size = 12, .anchor = Anchor::kMiddle});
  return plot;
}

void draw_legend_box(Svg& svg, double& x, double y, std::string_view fill, std::string_view name) {
  svg.rectangle(x, y - 9, 16, 10, fill);
  svg.text(x + 21, y, name, {.size = 12});
  x += 21 + width_of(name, 12) + 24;
}

void draw_legend_line(Svg& svg, double& x, double y, const Stroke& stroke, bool has_dot, std::string_view name) {
  svg.line({x, y - 4}, {x + 26, y - 4}, stroke);
  if (has_dot) svg.circle({x + 13, y - 4}, 2.5, stroke.colour);
  svg.text(x + 31, y, name, {.size = 12});
  x += 31 + width_of(name, 12) + 24;
}

struct LegendPlace {
  double x, y;  // from where the first name begins
};

// Two names stand in one line, more of them in as many as they need.
std::vector<LegendPlace> legend_places(const std::vector<BarSeries>& series, double width) {
  constexpr double kLine = 16;
  std::vector<LegendPlace> places;
  double x = 0, y = 0;
  for (const BarSeries& named : series) {
    const double own = 21 + width_of(named.name, 12);
    if (series.size() > 2 && x > 0 && x + own > width) x = 0, y += kLine;
    places.push_back({x, y});
    x += own + 24;
  }
  return places;
}

}  // namespace

double nice_step(double most, int parts) {
  double decade = 1;
  while (decade * parts > most) decade /= 10;
  while (decade * 10 * parts <= most) decade *= 10;
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (decade * factor * parts >= most) return decade * factor;
  return decade * 10;
}

void draw(Svg& svg, const Area& area, const BarChart& chart) {
  const auto bins = static_cast<double>(chart.labels.size());
  double longest = 0, most = 0;
  for (const std::string& label : chart.labels) longest = std::max(longest, width_of(label, kSmall));
  for (const BarSeries& series : chart.series) most = std::max(most, largest(series.values));
  const bool is_upright = longest + 4 > (area.width - 68) / bins;
  const std::vector<LegendPlace> names = legend_places(chart.series, area.width - 68);
  const Plot plot = draw_frame(svg, area, chart.title, chart.x_name, chart.y_name, most, is_upright ? longest + 14 : 22,
                               names.empty() ? 0 : names.back().y);
  std::vector<std::string> fills{std::string(kBlue)};
  if (chart.series.size() > 1) fills.push_back(svg.hatch(kOrange));
  if (chart.series.size() > 2) fills.emplace_back(kLight);
  if (chart.series.size() > 3) fills.push_back(svg.hatch(kGreen));
  if (chart.series.size() > 1)
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      double x = plot.left + names[s].x;
      draw_legend_box(svg, x, area.y + 36 + names[s].y, fills[s], chart.series[s].name);
    }

  const double pitch = (plot.right - plot.left) / bins;
  const double bar = pitch * 0.8 / static_cast<double>(chart.series.size());
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    const double left = plot.left + pitch * (static_cast<double>(i) + 0.1);
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.series[s].values.at(i);
      svg.rectangle(left + bar * static_cast<double>(s), plot.y(value), bar, plot.bottom - plot.y(value), fills[s],
                    fmt::format("{}, {}: {:.3g}", chart.labels[i], chart.series[s].name, value));
    }
    const double middle = plot.left + pitch * (static_cast<double>(i) + 0.5);
    if (is_upright)
      svg.text(middle + 4, plot.bottom + 6, chart.labels[i],
               {.size = kSmall, .anchor = Anchor::kEnd, .is_upright = true});
    else
      svg.text(middle, plot.bottom + 16, chart.labels[i], {.size = kSmall, .anchor = Anchor::kMiddle});
  }
}

void draw(Svg& svg, const Area& area, const TimeChart& chart) {
  const auto periods = static_cast<double>(std::max<std::size_t>(chart.bars.size(), 1));
  const double most = std::max({largest(chart.bars), largest(chart.line), chart.mark.value_or(0) * 1.05});
  const Plot plot = draw_frame(svg, area, chart.title, chart.x_name, chart.y_name, most, 22);
  const double pitch = (plot.right - plot.left) / periods;
  const auto middle = [&](std::size_t i) { return plot.left + pitch * (static_cast<double>(i) + 0.5); };
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    svg.rectangle(plot.left + pitch * static_cast<double>(i), plot.y(chart.bars[i]), std::max(pitch * 0.92, 0.3),
                  plot.bottom - plot.y(chart.bars[i]), kLight,
                  fmt::format("{}: {:.3g}", chart.labels.at(i), chart.bars[i]));
  std::vector<Point> points;
  for (std::size_t i = 0; i < chart.line.size(); ++i) points.push_back({middle(i), plot.y(chart.line[i])});
  const Stroke line{.colour = kOrange, .width = 1.5};
  if (points.size() > 1) svg.path(points, line);
  if (pitch >= 6)
    for (const Point& point : points) svg.circle(point, 2, kOrange);
  const Stroke mark{.colour = "#000000", .width = 1.2, .dashes = "7 4"};
  if (chart.mark) svg.line({plot.left, plot.y(*chart.mark)}, {plot.right, plot.y(*chart.mark)}, mark);

  double longest = 1;
  for (const std::string& label : chart.labels) longest = std::max(longest, width_of(label, kSmall));
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil((longest + 14) / pitch)));
  for (std::size_t i = 0; i < chart.labels.size(); i += every) {
    const double half = longest / 2;
    if (middle(i) + half > plot.right + 6 && i > 0) break;
    svg.line({middle(i), plot.bottom}, {middle(i), plot.bottom + 4}, {.colour = kAxis});
    svg.text(std::max(middle(i), plot.left + half - 20), plot.bottom + 17, chart.labels[i],
             {.size = kSmall, .anchor = Anchor::kMiddle});
  }
  double legend = plot.left;
  draw_legend_box(svg, legend, area.y + 36, kLight, chart.bars_name);
  if (!points.empty()) draw_legend_line(svg, legend, area.y + 36, line, pitch >= 6, chart.line_name);
  if (chart.mark) draw_legend_line(svg, legend, area.y + 36, mark, false, chart.mark_name);
}

}  // namespace replay::report
