// The figure `metric-over`: the mean of a metric over the values of an axis, a curve for each policy with the 95 % intervals of
// its points, and a panel for each combination of the other axes. The page of a study has it, and `replay plot` for papers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/report/plot/layout.hpp"
#include "scheduler/sweep/answer/comparison.hpp"

namespace replay::sweep {

inline constexpr std::string_view kMetricOver = "metric-over";  ///< the figure's name

struct OverPoint {
  double x = 0;
  std::string value{};  ///< of the axis, as the study has it
  metrics::Estimate mean{};
};

struct OverPanel {
  std::string name{};                            ///< "malleable 0.5"; empty if there is one panel
  std::vector<std::vector<OverPoint>> curves{};  ///< for each policy, ascending; points without a mean are left out
};

struct MetricOver {
  std::string metric{}, axis{};
  std::vector<std::string> curves{};  ///< the policies
  std::vector<Axis> x{};              ///< the axis itself, alone
  std::vector<OverPanel> panels{};
};

/// Whether all values of the axis are numbers, and there are two or more.
[[nodiscard]] bool is_numeric(const Axis& axis);
/// REQUIRES: the axis, one of study.axes, is numeric.
[[nodiscard]] MetricOver metric_over(const StudyComparison& study, const MetricComparison& metric, std::size_t axis);

/// All panels have the same axes. `figure` must outlive it. REQUIRES: at most report::kMostCurves curves, and a point.
[[nodiscard]] report::Layout layout_of(const MetricOver& figure);

struct MetricOverOptions {
  std::string axis{};
  std::string metric{};  ///< empty: the study's first
  std::vector<std::pair<std::string, std::string>>
      where{};  ///< axis and value: only cells with one of the values named
  report::PageSize size{};
  std::string title{};                ///< empty: none
  std::vector<std::string> labels{};  ///< of the curves; empty: the policies
};

/// "metric-over:load:mean_wait" or without the metric; nothing for another figure. Throws UsageError for one without an axis.
[[nodiscard]] std::optional<MetricOverOptions> metric_over_named(const std::string& figure);

/// Draws the figure of the study in `folder` (or of a sweep.csv) as the ending of `out` says, and writes it as a whole. Says on
/// stderr how many cells have no value of the metric. Throws UsageError for an axis, a metric or a value that the study does
/// not have, or too many panels or curves, InputError for a file that cannot be read, or without a value of the metric.
void write_metric_over(const std::filesystem::path& folder, const MetricOverOptions& options, const std::string& out);

}  // namespace replay::sweep
