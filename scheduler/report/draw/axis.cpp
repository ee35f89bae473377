#include "scheduler/report/draw/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace replay::report {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
constexpr double kAlmost = 1e-9;  // of a step
constexpr double kTickLength = 2.5, kSmallTick = 1.5, kGap = 2;
constexpr double kAxisWidth = 0.5;

struct TimeUnit {
  double seconds;
  const char* name;
  std::vector<double> steps;  // in the unit, ascending; then nice_step()
};

const std::vector<TimeUnit>& time_units() {
  static const std::vector<TimeUnit> kUnits = {{1, "s", {}},
                                               {kMinute, "min", {1, 2, 5, 10, 15, 20, 30, 60}},
                                               {kHour, "h", {1, 2, 3, 4, 6, 12, 24}},
                                               {kDay, "days", {1, 2, 5, 7, 14, 28}}};
  return kUnits;
}

// Seconds up to three minutes, minutes up to three hours, hours up to four days.
const TimeUnit& unit_for(double span) {
  const auto& units = time_units();
  return span <= 3 * kMinute ? units[0] : span <= 3 * kHour ? units[1] : span <= 4 * kDay ? units[2] : units[3];
}

double step_for(const TimeUnit& unit, double span, int parts) {
  const double most = span / unit.seconds;
  for (const double step : unit.steps)
    if (step * parts >= most) return step;
  return nice_step(most, parts);
}

std::string decade_label(double value) {
  const auto power = static_cast<int>(std::lround(std::log10(value)));
  if (power >= -3 && power <= 5) return fmt::format("{:.6g}", value);
  return fmt::format("1e{}", power);
}

// The largest of ..., 0.5, 1, 2, 5, 10, ... that is not above the value; of 1 / value it gives the next one above.
double round_below(double value) {
  const double decade = std::pow(10, std::floor(std::log10(value) + kAlmost));
  for (const double factor : {5.0, 2.0})
    if (decade * factor <= value * (1 + kAlmost)) return decade * factor;
  return decade;
}

struct TimeMark {
  double seconds;
  const char* label;
};
constexpr TimeMark kTimeMarks[] = {
    {0.001, "1 ms"},      {0.01, "10 ms"},     {0.1, "0.1 s"},           {1, "1 s"},
    {10, "10 s"},         {kMinute, "1 min"},  {10 * kMinute, "10 min"}, {kHour, "1 h"},
    {10 * kHour, "10 h"}, {10 * kDay, "10 d"}, {100 * kDay, "100 d"},    {1000 * kDay, "1000 d"}};

void draw_x_ticks(Canvas& canvas, const Plot& plot, const AxisStyle& style) {
  const double bottom = plot.area.bottom();
  std::vector<Polyline> marks;
  double written_to = -std::numeric_limits<double>::infinity();
  for (const Tick& tick : plot.x.ticks) {
    const double x = plot.at_x(tick.value);
    const bool is_labelled = !tick.label.empty();
    marks.push_back({{x, bottom}, {x, bottom + (is_labelled ? kTickLength : kSmallTick)}});
    if (!style.has_x_labels || !is_labelled) continue;
    const double half = canvas.width_of(tick.label, style.small) / 2;
    const double middle = std::min(x, std::max(canvas.width() - half, 0.0));  // the last one stays on the page
    if (middle - half < written_to) continue;
    canvas.text({middle, bottom + kTickLength + kGap + style.small * 0.75}, tick.label,
                {.size = style.small, .anchor = Anchor::kMiddle});
    written_to = middle + half + style.small * 0.4;
  }
  canvas.stroke(marks, {.width = kAxisWidth});
  if (style.has_x_labels)
    canvas.text({plot.area.x + plot.area.width / 2, bottom + room_below(style) - style.text * 0.25}, plot.x.name,
                {.size = style.text, .anchor = Anchor::kMiddle});
}

void draw_y_ticks(Canvas& canvas, const Plot& plot, const AxisStyle& style) {
  const double left = plot.area.x;
  std::vector<Polyline> marks;
  double written_to = std::numeric_limits<double>::infinity();
  for (const Tick& tick : plot.y.ticks) {
    const double y = plot.at_y(tick.value);
    const bool is_labelled = !tick.label.empty();
    marks.push_back({{left - (is_labelled ? kTickLength : kSmallTick), y}, {left, y}});
    if (!is_labelled || y + style.small * 0.4 > written_to) continue;
    canvas.text({left - kTickLength - kGap, y + style.small * 0.36}, tick.label,
                {.size = style.small, .anchor = Anchor::kEnd});
    written_to = y - style.small * 0.5;
  }
  canvas.stroke(marks, {.width = kAxisWidth});
  canvas.text({left - room_left(canvas.font(), plot.y, style) + style.text * 0.8, plot.area.y + plot.area.height / 2},
              plot.y.name, {.size = style.text, .anchor = Anchor::kMiddle, .is_upright = true});
}

}  // namespace

double Axis::share(double value) const {
  if (!is_logarithmic) return (value - low) / (high - low);
  return std::log(value / low) / std::log(high / low);
}

double nice_step(double most, int parts) {
  double decade = 1;
  while (decade * parts > most) decade /= 10;
  while (decade * 10 * parts <= most) decade *= 10;
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (decade * factor * parts >= most) return decade * factor;
  return decade * 10;
}

Axis value_axis(std::string name, double high, int parts, bool is_count) {
  const double most = high > 0 ? high : 1;
  double step = nice_step(most, parts);
  if (is_count) step = step < 1 ? 1 : step == 2.5 ? 5 : step;
  Axis axis{.high = std::ceil(most / step - kAlmost) * step, .name = std::move(name)};
  for (int i = 0; i * step <= axis.high * (1 + kAlmost); ++i)
    axis.ticks.push_back({i * step, fmt::format("{:.6g}", i * step)});
  return axis;
}

Axis span_axis(std::string name, double low, double high, int parts, bool whole_steps) {
  Axis axis{.low = low, .high = high, .name = std::move(name)};
  const double step = nice_step(high - low, parts);
  if (whole_steps) {
    axis.low = std::floor(low / step + kAlmost) * step;
    axis.high = std::ceil(high / step - kAlmost) * step;
  }
  const double first = std::ceil(axis.low / step - kAlmost);
  for (double i = first; i * step <= axis.high + step * 1e-6; ++i)
    axis.ticks.push_back({i * step, fmt::format("{:.6g}", i == 0 ? 0.0 : i * step)});
  return axis;
}

Axis time_axis(const std::string& name, double from, double to, int parts) {
  const TimeUnit& unit = unit_for(to - from);
  const double step = step_for(unit, to - from, parts);
  Axis axis{.low = from, .high = to, .name = fmt::format("{}, {}", name, unit.name)};
  const double first = std::ceil(from / unit.seconds / step - kAlmost);
  for (double i = first; i * step * unit.seconds <= to + step * unit.seconds * kAlmost; ++i)
    axis.ticks.push_back({i * step * unit.seconds, fmt::format("{:.10g}", i * step == 0 ? 0.0 : i * step)});
  return axis;
}

Axis log_axis(std::string name, double low, double high, bool is_time) {
  Axis axis{.low = low, .high = high, .is_logarithmic = true, .name = std::move(name)};
  if (is_time) {  // from one mark to another
    axis.low = kTimeMarks[0].seconds;
    for (const TimeMark& mark : kTimeMarks)
      if (mark.seconds <= low * (1 + kAlmost)) axis.low = mark.seconds;
    for (const TimeMark& mark : kTimeMarks) {
      if (mark.seconds < axis.low) continue;
      axis.ticks.push_back({mark.seconds, mark.label});
      if (mark.seconds > axis.low && mark.seconds >= high) break;
    }
    axis.high = std::max(high, axis.ticks.back().value);
    return axis;
  }
  axis.low = round_below(low);
  axis.high = 1 / round_below(1 / high);
  if (axis.high <= axis.low) axis.high = axis.low * 10;
  for (double decade = std::pow(10, std::floor(std::log10(axis.low) + kAlmost)); decade <= axis.high * (1 + kAlmost);
       decade *= 10)
    for (int i = 1; i < 10; ++i)
      if (decade * i >= axis.low * (1 - kAlmost) && decade * i <= axis.high * (1 + kAlmost))
        axis.ticks.push_back({decade * i, i == 1 ? decade_label(decade) : std::string{}});
  return axis;
}

double room_left(const Font& font, const Axis& y, const AxisStyle& style) {
  double widest = 0;
  for (const Tick& tick : y.ticks) widest = std::max(widest, font.width(tick.label, style.small));
  return widest + kTickLength + kGap + style.text * 1.35;
}

double room_below(const AxisStyle& style) {
  return style.has_x_labels ? kTickLength + kGap + style.small + style.text * 1.3 : kTickLength + 1;
}

void draw_axes(Canvas& canvas, const Plot& plot, const AxisStyle& style) {
  draw_x_ticks(canvas, plot, style);
  draw_y_ticks(canvas, plot, style);
  canvas.frame(plot.area, {.width = kAxisWidth});
}

}  // namespace replay::report
