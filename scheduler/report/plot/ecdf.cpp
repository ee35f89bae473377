// The figure `ecdf`: for each value of a metric the share of the jobs that have at most so much. Each curve has its own dashes, and marks
// at some quantiles.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "scheduler/base/error.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/plot/figures.hpp"
#include "scheduler/report/plot/job_values.hpp"

namespace replay::report {
namespace {

constexpr double kEcdfPanel = 112, kEcdfColumn = 0.25;  // points

struct ShareCurve {
  std::string name;
  std::vector<double> values;  // ascending
};

// A number that sorts the groups, and their names.
struct Group {
  std::size_t number = 0;
  std::string name{};
};

Group group_of(const PlotRun& run, const metrics::JobRow& row, std::size_t place, CurvesBy by) {
  if (by == CurvesBy::kSize) {
    const std::size_t group = size_group(row.processes);
    return {group, std::string{size_group_name(group)}};
  }
  if (by == CurvesBy::kNothing) return {};
  const std::uint8_t of = class_index(*run.records, place);
  return {of, of == kAbsent ? std::string{"no class"} : std::string{to_text(static_cast<JobClass>(of))}};
}

std::vector<ShareCurve> share_curves(std::span<const PlotRun> runs, const FigureOptions& options, JobMetric metric) {
  std::vector<ShareCurve> curves;
  for (const PlotRun& run : runs) {
    std::map<std::size_t, ShareCurve> groups;
    for_each_job(run, options, [&](const metrics::JobRow& row, std::size_t place) {
      const Group group = group_of(run, row, place, options.by);
      ShareCurve& curve = groups[group.number];
      curve.name = options.by == CurvesBy::kNothing ? run.label
                   : runs.size() == 1               ? group.name
                                                    : fmt::format("{}, {}", run.label, group.name);
      curve.values.push_back(value_of(row, metric, options.bound));
    });
    for (auto& [number, curve] : groups) {
      std::ranges::sort(curve.values);
      curves.push_back(std::move(curve));
    }
  }
  if (curves.empty()) fail_without_jobs(runs, options);
  if (curves.size() > kMostCurves)
    throw UsageError(fmt::format("--figure ecdf: expected at most {} curves, found {}: name fewer runs", kMostCurves,
                                 curves.size()));
  return curves;
}

// Up from value to value; of those in one column of the page the last.
Polyline share_line(const std::vector<double>& values, const Plot& plot) {
  const auto count = static_cast<double>(values.size());
  Polyline line{{plot.area.x, plot.area.bottom()}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = std::max(plot.area.x, values[i] <= plot.x.low ? plot.area.x : plot.at_x(values[i]));
    const double y = plot.at_y(static_cast<double>(i + 1) / count);
    if (x - line.back().x < kEcdfColumn && (line.size() > 1 || x == plot.area.x)) {
      line.back().y = y;
      continue;
    }
    line.push_back({x, line.back().y});
    line.push_back({x, y});
  }
  line.push_back({plot.area.right(), line.back().y});
  return line;
}

// The marks of different curves are at different heights.
void draw_marks(Canvas& canvas, const std::vector<double>& values, const Plot& plot, std::size_t number) {
  for (const double share : {0.2, 0.4, 0.6, 0.8}) {
    const double at = share + 0.02 * static_cast<double>(number);
    const auto place = static_cast<std::size_t>(at * static_cast<double>(values.size()));
    const double value = values[std::min(place, values.size() - 1)];
    if (value > plot.x.low) draw_marker(canvas, plot.at({value, at}), number);
  }
}

}  // namespace

Layout ecdf_layout(std::span<const PlotRun> runs, const FigureOptions& options) {
  const JobMetric metric = options.metric.value_or(JobMetric::kWait);
  auto curves = std::make_shared<std::vector<ShareCurve>>(share_curves(runs, options, metric));
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const ShareCurve& curve : *curves) {
    const auto above = std::ranges::upper_bound(curve.values, 0.0);
    if (above != curve.values.end()) least = std::min(least, *above);
    most = std::max(most, curve.values.back());
  }
  Layout layout{.x = metric_axis(metric, options.bound, least, most), .panels = {}, .panel_height = kEcdfPanel};
  layout.panels.push_back(
      {.y = value_axis("share of the jobs", 1, 5), .draw = [curves](Canvas& canvas, const Plot& plot) {
         for (std::size_t i = 0; i < curves->size(); ++i) {
           const Polyline line = share_line((*curves)[i].values, plot);
           canvas.stroke(std::span(&line, 1), curve_stroke(i));
           draw_marks(canvas, (*curves)[i].values, plot, i);
         }
       }});
  if (curves->size() > 1)
    for (std::size_t i = 0; i < curves->size(); ++i) layout.legend.push_back(marked_curve_entry((*curves)[i].name, i));
  return layout;
}

}  // namespace replay::report
