#include "scheduler/sweep/answer/metric_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/text/add_item.hpp"
#include "scheduler/base/text/clean_text.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "scheduler/base/text/parse_number.hpp"
#include "scheduler/base/text/say_on_stderr.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/base/text/suggest.hpp"
#include "scheduler/metrics/estimate_text.hpp"
#include "scheduler/metrics/summary.hpp"
#include "scheduler/report/draw/canvas_file.hpp"
#include "scheduler/sweep/answer/sweep_csv.hpp"

namespace replay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPanels = 12;
constexpr double kCap = 1.6, kApart = 1.6;  // points: half of an interval's end, and from curve to curve

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string axis_name(const std::string& metric) {
  const std::string_view unit = metrics::unit_of(metric);
  return unit.empty() || unit == "ratio" ? spaced(metric) : fmt::format("{}, {}", spaced(metric), unit);
}

double number_of(const std::string& text) {
  const auto number = parse_finite(text);
  INVARIANT(number, "no number: {}", text);
  return *number;
}

double half_of(const metrics::Estimate& mean) { return std::isfinite(mean.half_width) ? mean.half_width : 0; }

report::Axis y_axis(const MetricOver& figure) {
  constexpr double kTwoDecades = 100;
  constexpr double kMost = std::numeric_limits<double>::max();
  double low = kMost, high = -kMost, least_mean = kMost, most_mean = -kMost;
  for (const OverPanel& panel : figure.panels)
    for (const auto& curve : panel.curves)
      for (const OverPoint& point : curve) {
        low = std::min(low, point.mean.mean - half_of(point.mean));
        high = std::max(high, point.mean.mean + half_of(point.mean));
        least_mean = std::min(least_mean, point.mean.mean);
        most_mean = std::max(most_mean, point.mean.mean);
      }
  if (least_mean > 0 && most_mean >= least_mean * kTwoDecades)
    return report::log_axis(axis_name(figure.metric), std::max(low, least_mean / 2), high, false);
  if (low > 0 && low < high / 2) low = 0;
  if (high <= low) {
    low -= 0.5;
    high += 0.5;
  }
  return report::span_axis(axis_name(figure.metric), low, high, 5, true);
}

report::Axis x_axis(const MetricOver& figure) {
  report::Axis axis{.name = spaced(figure.axis)};
  for (const std::string& value : figure.x[0].values) axis.ticks.push_back({number_of(value), value});
  std::ranges::stable_sort(axis.ticks, {}, &report::Tick::value);
  const double room = (axis.ticks.back().value - axis.ticks.front().value) * 0.05;
  axis.low = axis.ticks.front().value - room;
  axis.high = axis.ticks.back().value + room;
  return axis;
}

void draw_curves(report::Canvas& canvas, const report::Plot& plot, const MetricOver& figure, const OverPanel& panel) {
  for (std::size_t number = 0; number < panel.curves.size(); ++number) {
    const double aside = (static_cast<double>(number) - static_cast<double>(panel.curves.size() - 1) / 2) * kApart;
    const report::Stroke stroke = report::curve_stroke(number);
    report::Polyline line;
    std::vector<report::Polyline> intervals;
    for (const OverPoint& point : panel.curves[number]) {
      const double x = plot.at_x(point.x) + aside;
      line.push_back({x, plot.at_y(point.mean.mean)});
      if (!std::isfinite(point.mean.half_width)) continue;
      // An interval that goes on below a logarithmic axis ends at its edge, without an end of its own.
      const bool is_cut = point.mean.low() < plot.y.low;
      const double low = is_cut ? plot.area.bottom() : plot.at_y(point.mean.low()), high = plot.at_y(point.mean.high());
      intervals.push_back({{x, low}, {x, high}});
      intervals.push_back({{x - kCap, high}, {x + kCap, high}});
      if (!is_cut) intervals.push_back({{x - kCap, low}, {x + kCap, low}});
    }
    canvas.stroke(std::span(&line, 1), stroke);
    canvas.stroke(intervals, {.colour = stroke.colour, .width = 0.6});
    for (std::size_t i = 0; i < line.size(); ++i) {
      const OverPoint& point = panel.curves[number][i];
      canvas.begin_tip(
          fmt::format("{}{} {}: {:.6g}{}, {}", figure.curves[number].empty() ? "" : figure.curves[number] + ", ",
                      figure.axis, point.value, point.mean.mean,
                      std::isfinite(point.mean.half_width) ? fmt::format(" +- {:.3g}", point.mean.half_width) : "",
                      counted(point.mean.values, "seed")));
      report::draw_marker(canvas, line[i], number);
      canvas.end_tip();
    }
  }
}

std::vector<std::string> names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  names.reserve(axes.size());
  for (const Axis& axis : axes) names.push_back(axis.name);
  return names;
}

// `expected`: "--where: expected an axis".
UsageError unknown(std::string_view expected, const std::string& found, const std::vector<std::string>& known) {
  const std::vector<std::string_view> words{known.begin(), known.end()};
  return UsageError(
      fmt::format("{} of the study, found '{}'{}", expected, clean_line(found), suggestion(found, words)));
}

// Numbers may be written in several ways.
bool is_same_value(const std::string& one, const std::string& other) {
  const auto number = parse_finite(one);
  return one == other || (number && number == parse_finite(other));
}

// Without the cells that are not asked for.
void keep(StudyResults& results, const std::vector<std::pair<std::string, std::string>>& where) {
  std::map<std::size_t, std::set<std::size_t>> kept;
  for (const auto& [name, value] : where) {
    const auto axis = std::ranges::find(results.axes, name, &Axis::name);
    if (axis == results.axes.end()) throw unknown("--where: expected an axis", name, names_of(results.axes));
    const auto found =
        std::ranges::find_if(axis->values, [&](const std::string& one) { return is_same_value(one, value); });
    if (found == axis->values.end())
      throw unknown(fmt::format("--where: expected a value of {}", name), value, axis->values);
    kept[static_cast<std::size_t>(axis - results.axes.begin())].insert(
        static_cast<std::size_t>(found - axis->values.begin()));
  }
  std::erase_if(results.cells, [&](const CellResult& cell) {
    return std::ranges::any_of(kept,
                               [&](const auto& entry) { return !entry.second.contains(cell.values[entry.first]); });
  });
}

MetricOver figure_of(const StudyComparison& study, const MetricOverOptions& options) {
  const auto axis = std::ranges::find(study.axes, options.axis, &Axis::name);
  if (options.axis == kPolicyAxis || options.axis == kSeedAxis)
    throw UsageError(
        fmt::format("--figure {}: expected another axis than policy, whose values are the curves, and seed, "
                    "over which means are taken, found '{}'",
                    kMetricOver, options.axis));
  if (axis == study.axes.end())
    throw unknown(fmt::format("--figure {}: expected an axis", kMetricOver), options.axis, names_of(study.axes));
  if (!is_numeric(*axis))
    throw UsageError(fmt::format("--figure {}: expected an axis of two numbers or more, found {} with {}", kMetricOver,
                                 axis->name, fmt::join(axis->values, ", ")));
  MetricOver figure = metric_over(study, study.metrics[0], static_cast<std::size_t>(axis - study.axes.begin()));
  if (figure.curves.size() > report::kMostCurves)
    throw UsageError(
        fmt::format("--figure {}: expected at most {} policies, found {}: choose some by --where policy=NAME",
                    kMetricOver, report::kMostCurves, figure.curves.size()));
  if (figure.panels.size() > kMostPanels)
    throw UsageError(fmt::format("--figure {}: expected at most {} panels, found {}: choose some by --where AXIS=VALUE",
                                 kMetricOver, kMostPanels, figure.panels.size()));
  if (!options.labels.empty() && options.labels.size() != figure.curves.size())
    throw UsageError(fmt::format("--label: expected one for each of the {} policies, or none, found {}",
                                 figure.curves.size(), options.labels.size()));
  return figure;
}

// Policies that have no cells left are no curves.
void drop_policies_without_cells(StudyResults& results) {
  const auto policy = std::ranges::find(results.axes, kPolicyAxis, &Axis::name);
  if (policy == results.axes.end()) return;
  const auto at = static_cast<std::size_t>(policy - results.axes.begin());
  std::set<std::size_t> used;
  for (const CellResult& cell : results.cells) used.insert(cell.values[at]);
  std::vector<std::string> names;
  std::map<std::size_t, std::size_t> places;
  for (const std::size_t value : used) {
    places[value] = names.size();
    names.push_back(policy->values[value]);
  }
  for (CellResult& cell : results.cells) cell.values[at] = places[cell.values[at]];
  policy->values = std::move(names);
}

}  // namespace

bool is_numeric(const Axis& axis) {
  return axis.values.size() > 1 &&
         std::ranges::all_of(axis.values, [](const std::string& value) { return parse_finite(value).has_value(); });
}

MetricOver metric_over(const StudyComparison& study, const MetricComparison& metric, std::size_t axis) {
  MetricOver figure{
      .metric = metric.metric, .axis = study.axes[axis].name, .curves = study.policies, .x = {study.axes[axis]}};
  std::map<std::vector<std::size_t>, OverPanel> panels;
  for (const Setting& setting : metric.settings) {
    std::vector<std::size_t> others = setting.values;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
    OverPanel& panel = panels[others];
    panel.curves.resize(study.policies.size());
    panel.name.clear();
    for (std::size_t i = 0; i < study.axes.size(); ++i)
      if (i != axis) add_item(panel.name, ", ", "{} {}", study.axes[i].name, study.axes[i].values[setting.values[i]]);
    const std::string& value = study.axes[axis].values[setting.values[axis]];
    for (std::size_t policy = 0; policy < study.policies.size(); ++policy)
      if (setting.means[policy].values > 0)
        panel.curves[policy].push_back({number_of(value), value, setting.means[policy]});
  }
  for (auto& [others, panel] : panels) {
    for (auto& curve : panel.curves) std::ranges::stable_sort(curve, {}, &OverPoint::x);
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

report::Layout layout_of(const MetricOver& figure) {
  constexpr double kAlone = 112, kOneOfSeveral = 76, kAroundName = 6;
  const report::Axis y = y_axis(figure);
  report::Layout layout{
      .x = x_axis(figure), .panels = {}, .panel_height = figure.panels.size() == 1 ? kAlone : kOneOfSeveral};
  layout.panel_height =
      std::max(layout.panel_height, report::Font{}.width(y.name, report::kFigureStyle.text) + kAroundName);
  for (const OverPanel& panel : figure.panels)
    layout.panels.push_back(
        {.y = y, .name = panel.name, .draw = [&figure, &panel](report::Canvas& canvas, const report::Plot& plot) {
           draw_curves(canvas, plot, figure, panel);
         }});
  if (figure.curves.size() > 1)
    for (std::size_t i = 0; i < figure.curves.size(); ++i)
      layout.legend.push_back(report::marked_curve_entry(figure.curves[i], i));
  return layout;
}

std::optional<MetricOverOptions> metric_over_named(const std::string& figure) {
  const auto parts = split(figure, ':');
  if (parts[0] != kMetricOver) return std::nullopt;
  if (parts.size() < 2 || parts.size() > 3 ||
      std::ranges::any_of(parts, [](std::string_view part) { return part.empty(); }))
    throw UsageError(
        fmt::format("--figure: expected {0}:AXIS or {0}:AXIS:METRIC, such as {0}:load:mean_wait, found '{1}'",
                    kMetricOver, figure));
  MetricOverOptions options{.axis = std::string{parts[1]}};
  if (parts.size() == 3) options.metric = parts[2];
  return options;
}

void write_metric_over(const fs::path& folder, const MetricOverOptions& options, const std::string& out) {
  report::expect_drawing_name("-o", out);
  const fs::path file = fs::is_directory(folder) ? folder / "sweep.csv" : folder;
  if (!fs::exists(file))
    throw InputError(fmt::format("{}: expected the folder of a study with its sweep.csv, found none", folder.string()));
  StudyResults results = read_sweep_csv(file);
  const std::vector<std::string> known = results.metrics;
  if (!options.metric.empty()) results.metrics = {options.metric};
  if (known.empty() || std::ranges::find(known, results.metrics[0]) == known.end())
    throw unknown(fmt::format("--figure {}: expected a metric", kMetricOver), options.metric, known);
  results.metrics.resize(1);
  keep(results, options.where);
  drop_policies_without_cells(results);
  const StudyComparison study = compare(results);
  MetricOver figure = figure_of(study, options);
  if (!options.labels.empty()) figure.curves = options.labels;
  const auto cells = static_cast<std::size_t>(std::ranges::count_if(results.cells, [&](const CellResult& cell) {
    const auto found = cell.metrics.find(results.metrics[0]);
    return found == cell.metrics.end() || std::isnan(found->second);
  }));
  if (cells == results.cells.size())
    throw InputError(
        fmt::format("{}: expected cells with a value of {}, found none", file.string(), results.metrics[0]));
  if (cells > 0)
    say_on_stderr(fmt::format("{}: {} no value of {}: left out of the figure", file.string(),
                              counted(cells, "cell has", "cells have"), results.metrics[0]));
  write_whole_file(out, report::draw_layout(layout_of(figure), options.size, options.title,
                                            fmt::format("{} over {}", results.metrics[0], options.axis), out));
}

}  // namespace replay::sweep
