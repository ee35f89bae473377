// The figure `slowdown-by-size`: the quartiles of a metric for jobs of 1, 2, up to 4, up to 8, ... processors as a box with the median,
// and lines to the 5th and the 95th percentile.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "scheduler/base/error.hpp"
#include "scheduler/base/percentile.hpp"
#include "scheduler/base/powers_of_two.hpp"
#include "scheduler/report/plot/figures.hpp"
#include "scheduler/report/plot/job_values.hpp"

namespace replay::report {
namespace {

constexpr double kBySizePanel = 112;

struct Quartiles {
  std::size_t bin = 0;  // jobs of up to 2^bin processors
  double p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0;
};

std::vector<Quartiles> quartiles_of(const PlotRun& run, const FigureOptions& options, JobMetric metric) {
  std::vector<std::vector<double>> values;
  for_each_job(run, options, [&](const metrics::JobRow& row, std::size_t) {
    const std::size_t bin = log2_above(row.processes);
    if (values.size() <= bin) values.resize(bin + 1);
    values[bin].push_back(value_of(row, metric, options.bound));
  });
  std::vector<Quartiles> quartiles;
  for (std::size_t bin = 0; bin < values.size(); ++bin) {
    if (values[bin].empty()) continue;
    Percentiles of(values[bin]);
    quartiles.push_back({bin, of.at(0.05), of.at(0.25), of.at(0.5), of.at(0.75), of.at(0.95)});
  }
  return quartiles;
}

// Light enough for the median to be seen, and told apart by lightness.
Colour box_colour(std::size_t number) {
  constexpr Colour kBoxes[] = {Colour::of(0xbcd9ee), Colour::of(0xf6d2b8), Colour::of(0x9a9a9a), Colour::of(0xc2e5d7),
                               Colour::of(0xe3bfd3), Colour::of(0xe8dba8), Colour::of(0x7fb3d9), Colour::of(0xdddddd)};
  return kBoxes[number % std::size(kBoxes)];
}

// Values below a logarithmic axis lie on its edge.
double height_on(const Plot& plot, double value) { return plot.at_y(std::clamp(value, plot.y.low, plot.y.high)); }

void draw_quartiles(Canvas& canvas, const Plot& plot, const Quartiles& of, double middle, double width,
                    std::size_t number) {
  const auto y = [&](double value) { return height_on(plot, value); };
  const double left = middle - width / 2, right = middle + width / 2;
  const Stroke thin{.colour = curve_stroke(number).colour, .width = 0.6};
  const std::vector<Polyline> whiskers{{{middle, y(of.p5)}, {middle, y(of.p25)}},
                                       {{middle, y(of.p75)}, {middle, y(of.p95)}},
                                       {{middle - width / 4, y(of.p5)}, {middle + width / 4, y(of.p5)}},
                                       {{middle - width / 4, y(of.p95)}, {middle + width / 4, y(of.p95)}}};
  canvas.stroke(whiskers, thin);
  const Box box{left, y(of.p75), width, y(of.p25) - y(of.p75)};
  canvas.fill(box, box_colour(number));
  canvas.frame(box, thin);
  canvas.line({left, y(of.p50)}, {right, y(of.p50)}, {.width = 1.2});
}

using AllQuartiles = std::vector<std::vector<Quartiles>>;  // by run

Axis size_axis(const AllQuartiles& runs) {
  std::size_t least = std::numeric_limits<std::size_t>::max(), most = 0;
  for (const auto& run : runs)
    for (const Quartiles& of : run) least = std::min(least, of.bin), most = std::max(most, of.bin);
  Axis axis{.low = static_cast<double>(least) - 0.5,
            .high = static_cast<double>(most) + 0.5,
            .name = "processors of the job, up to"};
  for (std::size_t bin = least; bin <= most; ++bin)
    axis.ticks.push_back({static_cast<double>(bin), fmt::format("{}", std::int64_t{1} << bin)});
  return axis;
}

}  // namespace

Layout by_size_layout(std::span<const PlotRun> runs, const FigureOptions& options) {
  const JobMetric metric = options.metric.value_or(JobMetric::kSlowdown);
  auto quartiles = std::make_shared<AllQuartiles>();
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const PlotRun& run : runs)
    for (const Quartiles& of : quartiles->emplace_back(quartiles_of(run, options, metric))) {
      for (const double value : {of.p5, of.p25, of.p50})
        if (value > 0) least = std::min(least, value);
      most = std::max(most, of.p95);
    }
  if (std::ranges::all_of(*quartiles, [](const auto& of) { return of.empty(); })) fail_without_jobs(runs, options);
  expect_few(runs, "slowdown-by-size");
  Layout layout{.x = size_axis(*quartiles), .panels = {}, .panel_height = kBySizePanel};
  layout.panels.push_back(
      {.y = metric_axis(metric, options.bound, least, most), .draw = [quartiles](Canvas& canvas, const Plot& plot) {
         const auto count = static_cast<double>(quartiles->size());
         const double pitch = plot.at_x(1) - plot.at_x(0), slot = pitch * 0.8 / count;
         for (std::size_t run = 0; run < quartiles->size(); ++run)
           for (const Quartiles& of : (*quartiles)[run]) {
             const double middle =
                 plot.at_x(static_cast<double>(of.bin)) + slot * (static_cast<double>(run) - (count - 1) / 2);
             draw_quartiles(canvas, plot, of, middle, std::min(slot * 0.8, 14.0), run);
           }
       }});
  if (runs.size() > 1)
    for (std::size_t i = 0; i < runs.size(); ++i)
      layout.legend.push_back(
          {runs[i].label, [i](Canvas& canvas, const Box& box) {
             canvas.fill(box, box_colour(i));
             canvas.frame(box, {.colour = curve_stroke(i).colour, .width = 0.6});
             canvas.line({box.x, box.y + box.height / 2}, {box.right(), box.y + box.height / 2}, {.width = 1.2});
           }});
  return layout;
}

}  // namespace replay::report
