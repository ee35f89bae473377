#include "scheduler/report/plot/figure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/base/file/whole_file.hpp"
#include "scheduler/base/text/split.hpp"
#include "scheduler/report/draw/canvas_file.hpp"
#include "scheduler/report/plot/figures.hpp"
#include "scheduler/results/event_log_file.hpp"

namespace replay::report {
namespace {

namespace fs = std::filesystem;

Window window_of(std::span<const PlotRun> runs, const FigureOptions& options) {
  double from = seconds(runs.front().records->table().rows().front().submitted), to = from;
  for (const PlotRun& run : runs) {
    from = std::min(from, seconds(run.records->table().rows().front().submitted));
    to = std::max(to, seconds(run.records->last()));
  }
  if (options.from) from = seconds(*options.from);
  if (options.to) to = seconds(*options.to);
  if (from > to || (from == to && (options.from || options.to)))
    throw UsageError(fmt::format("--from, --to: expected a span of the runs, found {:.6g} s to {:.6g} s", from, to));
  return {from, from == to ? to + 1 : to};
}

void expect_options_fit(const FigureOptions& options) {
  const bool is_of_jobs = options.kind == FigureKind::kEcdf || options.kind == FigureKind::kSlowdownBySize;
  const std::string_view name = kFigureNames[static_cast<std::size_t>(options.kind)];
  if (options.metric && !is_of_jobs)
    throw UsageError(fmt::format("--metric: is for the figures ecdf and slowdown-by-size, found with {}", name));
  if (options.by != CurvesBy::kNothing && options.kind != FigureKind::kEcdf)
    throw UsageError(fmt::format("--by: is for the figure ecdf, found with {}", name));
}

Layout layout_of(std::span<const PlotRun> runs, const FigureOptions& options, const Window& window, double width) {
  switch (options.kind) {
    case FigureKind::kGantt: return gantt_layout(runs, window, width);
    case FigureKind::kQueue: return queue_layout(runs, window);
    case FigureKind::kEcdf: return ecdf_layout(runs, options);
    case FigureKind::kSlowdownBySize: return by_size_layout(runs, options);
    case FigureKind::kUtilisation: return utilisation_layout(runs, window);
  }
  INVARIANT(false, "there is no figure {}", static_cast<int>(options.kind));
}

std::string description_of(std::span<const PlotRun> runs, const FigureOptions& options) {
  return fmt::format("{}: {}", kFigureNames[static_cast<std::size_t>(options.kind)],
                     joined(runs, ", ", &PlotRun::label));
}

}  // namespace

std::string figure_of(std::span<const fs::path> logs, const FigureOptions& options, const std::string& out) {
  expect_drawing_name("-o", out);
  expect_options_fit(options);
  const std::vector<PlotRun> runs = read_plot_runs(logs, options.labels);
  const Window window = window_of(runs, options);
  const double width = options.width_mm * kPointsPerMm;
  const Layout layout = layout_of(runs, options, window, width);
  PageSize size{.width = width};
  if (options.height_mm) size.height = *options.height_mm * kPointsPerMm;
  return draw_layout(layout, size, options.title, description_of(runs, options), out);
}

void write_figure(std::span<const fs::path> logs, const FigureOptions& options, const std::string& out) {
  results::expect_no_log(out, logs);
  write_whole_file(out, figure_of(logs, options, out));
}

}  // namespace replay::report
