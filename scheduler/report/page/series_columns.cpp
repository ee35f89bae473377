// The load of a run over time, exact or as means over equal spans.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/model/units.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/run_parts.hpp"

namespace replay::report {
namespace {

constexpr std::size_t kCurves = 5;
using State = std::array<double, kCurves>;  // waiting processors, busy, processes, queued, free while queued

State state_of(const metrics::Point& point, const metrics::Series& series) {
  const double free = point.queued > 0 ? number(series.free_cores(point)) : 0;
  return {static_cast<double>(point.waiting_processors), static_cast<double>(point.busy_cores),
          static_cast<double>(point.processes), static_cast<double>(point.queued), free};
}

void add(SeriesColumns& columns, double time, const State& state) {
  columns.time.push_back(time);
  columns.waiting_processors.push_back(state[0]);
  columns.busy.push_back(state[1]);
  columns.mpl.push_back(state[1] > 0 ? state[2] / state[1] : std::numeric_limits<double>::quiet_NaN());
  columns.queued.push_back(state[3]);
  columns.free_while_queued.push_back(state[4]);
}

// Means of step functions over equal spans.
class Means {
 public:
  Means(double begin, double end, std::size_t spans)
      : begin_(begin), width_((end - begin) / static_cast<double>(spans)), sums_(spans) {}

  void add(double from, double to, const State& state) {
    for (std::size_t span = span_of(from); span < sums_.size() && begin_of(span) < to; ++span) {
      const double lasting = std::min(to, begin_of(span + 1)) - std::max(from, begin_of(span));
      for (std::size_t i = 0; i < kCurves; ++i) sums_[span][i] += state[i] * std::max(0.0, lasting);
    }
  }
  [[nodiscard]] double begin_of(std::size_t span) const { return begin_ + width_ * static_cast<double>(span); }
  [[nodiscard]] std::size_t spans() const { return sums_.size(); }
  [[nodiscard]] State mean(std::size_t span) const {
    State state = sums_[span];
    for (double& value : state) value /= width_;
    return state;
  }

 private:
  [[nodiscard]] std::size_t span_of(double time) const {
    return static_cast<std::size_t>(std::max(0.0, std::floor((time - begin_) / width_)));
  }
  double begin_, width_;
  std::vector<State> sums_;
};

}  // namespace

void add_point(SeriesColumns& columns, const metrics::Point& point, const metrics::Series& series) {
  add(columns, seconds(point.at), state_of(point, series));
}

SeriesColumns series_columns(const metrics::Series& series, const PageLimits& limits, std::vector<std::string>& told) {
  SeriesColumns columns;
  const auto points = series.points();
  const double end = seconds(series.end());
  if (points.size() <= limits.points || series.end() <= series.begin()) {
    for (const metrics::Point& point : points) add_point(columns, point, series);
    return columns;
  }
  Means means(seconds(series.begin()), end, limits.spans);
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    means.add(seconds(points[i].at), seconds(points[i + 1].at), state_of(points[i], series));
  for (std::size_t span = 0; span < means.spans(); ++span) add(columns, means.begin_of(span), means.mean(span));
  add(columns, end, state_of(points.back(), series));
  const Duration span = (series.end() - series.begin()) / static_cast<std::int64_t>(limits.spans);
  told.push_back(fmt::format("The curves over time have {} changes; they are drawn as means over {}.", points.size(),
                             length_text(span)));
  return columns;
}

}  // namespace replay::report
