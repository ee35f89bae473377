// The figures of the load over time: the queue, and busy cores.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "scheduler/base/error.hpp"
#include "scheduler/report/plot/figures.hpp"
#include "scheduler/report/plot/step_curve.hpp"

namespace replay::report {
namespace {

constexpr double kQueuePanel = 62, kUtilisationPanel = 100;
constexpr int kTimeParts = 7, kValueParts = 4;
constexpr double kFewChanges = 150;  // drawn as they are; of more the means over so many spans
constexpr Colour kArea = Colour::of(0xc9dcec);

using Values = double (*)(const metrics::Point&);

std::vector<Step> steps_of(const PlotRun& run, Values value) {
  std::vector<Step> steps;
  for (const metrics::Point& point : run.records->series().points()) steps.push_back({seconds(point.at), value(point)});
  return steps;
}

double end_of(const PlotRun& run) { return seconds(run.records->series().end()); }

// A curve a run, kept for as long as the layout.
using LoadCurves = std::vector<std::vector<Step>>;

double largest_in(const LoadCurves& curves, const Window& window) {
  double most = 0;
  for (const std::vector<Step>& steps : curves)
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].time < window.to && (i + 1 == steps.size() || steps[i + 1].time > window.from))
        most = std::max(most, steps[i].value);
  return most;
}

Panel curves_panel(std::span<const PlotRun> runs, const Window& window, std::string name, Values value) {
  auto curves = std::make_shared<LoadCurves>();
  for (const PlotRun& run : runs) curves->push_back(steps_of(run, value));
  return {.y = value_axis(std::move(name), largest_in(*curves, window), kValueParts, true),
          .draw = [=](Canvas& canvas, const Plot& plot) {
            for (std::size_t i = 0; i < curves->size(); ++i) {
              const Polyline line = step_line((*curves)[i], end_of(runs[i]), window, plot);
              canvas.stroke(std::span(&line, 1), curve_stroke(i));
            }
          }};
}

LegendEntry curve_entry(std::string name, std::size_t number) {
  return {std::move(name), [number](Canvas& canvas, const Box& box) {
            const double y = box.y + box.height / 2;
            canvas.line({box.x, y}, {box.right(), y}, curve_stroke(number));
          }};
}

double busy_of(const metrics::Point& point) { return point.busy_cores; }

// What the figure of busy cores draws of a run.
struct BusyCurve {
  std::vector<Step> steps;
  double end = 0, mean = 0;
};

BusyCurve busy_curve(const PlotRun& run, const Window& window, double span) {
  BusyCurve curve{.steps = steps_of(run, busy_of), .end = std::min(end_of(run), window.to)};
  curve.mean = mean_of(curve.steps, curve.end, window);
  if (span > 0) curve.steps = means_over(curve.steps, curve.end, window, span);
  return curve;
}

// The length of the spans that means are drawn of; 0: every change is drawn.
double span_for(std::span<const PlotRun> runs, const Window& window) {
  std::ptrdiff_t most = 0;
  for (const PlotRun& run : runs)
    most = std::max(most, std::ranges::count_if(run.records->series().points(), [&window](const metrics::Point& point) {
                      return seconds(point.at) > window.from && seconds(point.at) < window.to;
                    }));
  return static_cast<double>(most) <= kFewChanges ? 0 : round_span(window, kFewChanges);
}

void draw_area(Canvas& canvas, const Polyline& line, const Plot& plot) {
  if (line.size() < 2) return;
  Polyline area = line;
  area.push_back({line.back().x, plot.area.bottom()});
  area.push_back({line.front().x, plot.area.bottom()});
  canvas.fill(std::span<const Point>(area), kArea);
}

constexpr Stroke kMeanStroke{.width = 0.8, .dashes = {4, 2}};

std::string mean_text(const BusyCurve& curve, CoreCount cores) {
  return fmt::format("mean {:.1f} %", 100 * curve.mean / cores);
}

void add_busy_legend(Layout& layout, std::span<const PlotRun> runs, const std::vector<BusyCurve>& curves) {
  if (runs.size() > 1) {
    for (std::size_t i = 0; i < runs.size(); ++i)
      layout.legend.push_back(curve_entry(
          fmt::format("{}, {}", runs[i].label, mean_text(curves[i], runs[i].records->series().cores())), i));
    return;
  }
  layout.legend.push_back(
      {mean_text(curves.front(), runs.front().records->series().cores()), [](Canvas& canvas, const Box& box) {
         canvas.line({box.x, box.y + box.height / 2}, {box.right(), box.y + box.height / 2}, kMeanStroke);
       }});
}

}  // namespace

Layout queue_layout(std::span<const PlotRun> runs, const Window& window) {
  expect_few(runs, "queue");
  Layout layout{.x = time_axis("time", window.from, window.to, kTimeParts), .panels = {}, .panel_height = kQueuePanel};
  layout.panels.push_back(
      curves_panel(runs, window, "waiting jobs", [](const metrics::Point& at) -> double { return at.queued; }));
  layout.panels.push_back(curves_panel(runs, window, "waiting processors", [](const metrics::Point& at) {
    return static_cast<double>(at.waiting_processors);
  }));
  if (runs.size() > 1)
    for (std::size_t i = 0; i < runs.size(); ++i) layout.legend.push_back(curve_entry(runs[i].label, i));
  return layout;
}

Layout utilisation_layout(std::span<const PlotRun> runs, const Window& window) {
  expect_few(runs, "utilisation");
  const double span = span_for(runs, window);
  auto curves = std::make_shared<std::vector<BusyCurve>>();
  CoreCount cores = 0;
  for (const PlotRun& run : runs) {
    curves->push_back(busy_curve(run, window, span));
    cores = std::max(cores, run.machine.size());
  }
  Axis y = value_axis(span > 0 ? fmt::format("busy cores, mean of {}", length_text(from_seconds(span))) : "busy cores",
                      cores, kValueParts, true);
  y.high = cores * 1.04;  // a line at all cores is apart from the frame
  std::erase_if(y.ticks, [cores](const Tick& tick) { return tick.value > cores; });
  if (cores - y.ticks.back().value > 0.5 * y.ticks.at(1).value)
    y.ticks.push_back({static_cast<double>(cores), fmt::format("{}", cores)});
  else
    y.ticks.back() = {static_cast<double>(cores), fmt::format("{}", cores)};
  Layout layout{
      .x = time_axis("time", window.from, window.to, kTimeParts), .panels = {}, .panel_height = kUtilisationPanel};
  layout.panels.push_back(
      {.y = std::move(y), .draw = [=](Canvas& canvas, const Plot& plot) {
         for (std::size_t i = 0; i < curves->size(); ++i) {
           const BusyCurve& curve = (*curves)[i];
           const Polyline line = step_line(curve.steps, curve.end, window, plot);
           if (curves->size() == 1) draw_area(canvas, line, plot);
           canvas.stroke(std::span(&line, 1), curve_stroke(i));
           if (curves->size() == 1)
             canvas.line({plot.area.x, plot.at_y(curve.mean)}, {plot.area.right(), plot.at_y(curve.mean)}, kMeanStroke);
         }
       }});
  add_busy_legend(layout, runs, *curves);
  return layout;
}

}  // namespace replay::report
