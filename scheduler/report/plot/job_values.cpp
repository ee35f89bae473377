#include "scheduler/report/plot/job_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/base/error.hpp"
#include "scheduler/model/units.hpp"

namespace replay::report {

double value_of(const metrics::JobRow& row, JobMetric metric, Duration bound) {
  const metrics::JobTimes times = row.times();
  switch (metric) {
    case JobMetric::kWait: return seconds(times.wait);
    case JobMetric::kResponse: return seconds(times.response());
    case JobMetric::kSlowdown: return times.bounded_slowdown(bound);
  }
  INVARIANT(false, "there is no metric {}", static_cast<int>(metric));
}

void for_each_job(const PlotRun& run, const FigureOptions& options,
                  const std::function<void(const metrics::JobRow& row, std::size_t place)>& each) {
  const auto rows = run.records->table().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ran()) continue;
    if ((options.from && rows[i].submitted < *options.from) || (options.to && rows[i].submitted >= *options.to))
      continue;
    each(rows[i], i);
  }
}

Axis metric_axis(JobMetric metric, Duration bound, double least, double most) {
  constexpr double kTwoDecades = 100;
  constexpr int kParts = 6;
  if (metric == JobMetric::kSlowdown) {
    const std::string name = fmt::format("bounded slowdown ({})", length_text(bound));
    return most >= kTwoDecades / 2 ? log_axis(name, 1, most, false) : value_axis(name, most, kParts);
  }
  const std::string name = metric == JobMetric::kWait ? "wait" : "response time";
  const double low = std::max(1.0, least);
  if (most >= low * kTwoDecades) return log_axis(name, low, most, true);
  return time_axis(name, 0, most > 0 ? most : 1, kParts);
}

void fail_without_jobs(std::span<const PlotRun> runs, const FigureOptions& options) {
  throw InputError(fmt::format("{}: expected jobs that ran{}, found none", runs.front().log.string(),
                               options.from || options.to ? " and were submitted between --from and --to" : ""));
}

}  // namespace replay::report
