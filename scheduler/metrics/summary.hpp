// The numbers of a run. Each metric has a name, a unit and a definition in one table (summary.cpp), which also feeds the
// documentation and metrics.json. Times of jobs count over the jobs that ran; a value that cannot be had (a mean over no
// jobs) is NaN.
// Sources: FCFS-malleable paper, section 3.1, formulas (1) and (2), and Table 3; dynP paper (SLDwA); G-LOMARC-TS paper,
// section 3 (high-load phases).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/metrics/job_table.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

struct SummaryOptions {
  Duration bound = std::chrono::seconds{10};  ///< of the bounded slowdown; > 0
  double trim_percent = 0;                    ///< of the jobs, in submit order, left out at each end; 0 up to below 50
  bool completed_only = false;                ///< means over jobs that completed; otherwise over all that ran
  /// Which jobs count, for figures per class or user; none: all. Figures of the machine stay those of the whole machine.
  std::function<bool(const JobRow&)> filter{};
};

struct Metric {
  std::string_view name;  ///< of static storage, as the unit
  std::string_view unit;  ///< s, ratio (shares too), jobs or times
  std::string definition;
  double value;
};

struct Summary {
  std::vector<Metric> metrics;  ///< in the order of the table

  /// REQUIRES: there is a metric of that name.
  [[nodiscard]] double value(std::string_view name) const;
  [[nodiscard]] const Metric* find(std::string_view name) const;
};

/// REQUIRES: the series saw the same log as the table, and kept its points if jobs are trimmed. O(jobs).
/// Throws UsageError for options that make no sense.
[[nodiscard]] Summary summarise(const JobTable& table, const Series& series, const SummaryOptions& options = {});

/// Only those metrics, in the order asked for. Throws UsageError naming the metric that does not exist.
[[nodiscard]] Summary select(const Summary& summary, std::span<const std::string> names);

/// Every metric's name.
[[nodiscard]] std::vector<std::string_view> metric_names();

/// The summary that Batsim writes (`_schedule.json`), under its names and by its definitions: slowdown is response over
/// execution time as it was. Energy is left out.
[[nodiscard]] std::vector<std::pair<std::string_view, double>> batsim_summary(const JobTable& table,
                                                                              const Series& series);

/// The value below which the share `q` of `values` lies, by linear interpolation between ranks (as numpy's default). NaN
/// of nothing. Reorders `values`. O(values).
[[nodiscard]] double percentile(std::vector<double>& values, double q);

}  // namespace replay::metrics
