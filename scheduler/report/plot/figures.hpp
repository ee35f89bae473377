// The layouts of the figures. Part of figure.cpp.
#pragma once

#include <span>

#include "scheduler/report/plot/figure.hpp"
#include "scheduler/report/plot/layout.hpp"
#include "scheduler/report/plot/plot_run.hpp"

namespace replay::report {

// Runs, options and window must outlive the layouts. `width` is that of the figure, in points. Each throws InputError where the runs have
// nothing to draw in the window.

[[nodiscard]] Layout gantt_layout(std::span<const PlotRun> runs, const Window& window, double width);
[[nodiscard]] Layout queue_layout(std::span<const PlotRun> runs, const Window& window);
[[nodiscard]] Layout utilisation_layout(std::span<const PlotRun> runs, const Window& window);
[[nodiscard]] Layout ecdf_layout(std::span<const PlotRun> runs, const FigureOptions& options);
[[nodiscard]] Layout by_size_layout(std::span<const PlotRun> runs, const FigureOptions& options);

}  // namespace replay::report
