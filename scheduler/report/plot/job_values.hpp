// The metric of each job that a figure of distributions shows, and the axis for it.
#pragma once

#include <functional>
#include <span>

#include "scheduler/report/draw/axis.hpp"
#include "scheduler/report/plot/figure.hpp"
#include "scheduler/report/plot/plot_run.hpp"

namespace replay::report {

/// Seconds, or the bounded slowdown; of a job that ran.
[[nodiscard]] double value_of(const metrics::JobRow& row, JobMetric metric, Duration bound);

/// Calls `each` with the rows, and their places in the table, that ran and were submitted in the options' span.
void for_each_job(const PlotRun& run, const FigureOptions& options,
                  const std::function<void(const metrics::JobRow& row, std::size_t place)>& each);

/// Logarithmic where the values span two decades, which for times begin at a second; else from 0.
[[nodiscard]] Axis metric_axis(JobMetric metric, Duration bound, double least, double most);

/// Throws InputError: none of the runs has a job to draw.
[[noreturn]] void fail_without_jobs(std::span<const PlotRun> runs, const FigureOptions& options);

}  // namespace replay::report
