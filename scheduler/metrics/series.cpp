#include "scheduler/metrics/series.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::metrics {

void Series::on_load(Instant at, const history::Load& load) {
  if (points_.empty()) {
    begin_ = at;
    points_.emplace_back();
  } else if (Point& now = points_.back(); at != now.at) {
    add(total_, now, at - now.at);
    longest_queue_ = std::max(longest_queue_, now.queued);
    const bool is_news = points_.size() < 2 || points_[points_.size() - 2] != static_cast<const history::Load&>(now);
    if (options_.keep_points && is_news) points_.push_back(now);
  }
  points_.back() = {load, at};
}

void Series::add(Integrals& sum, const Point& state, Duration lasting) const {
  const Wide time = lasting.count();
  sum.time += time;
  sum.busy_cores += time * state.busy_cores;
  sum.processes += time * state.processes;
  sum.queued += time * state.queued;
  if (state.closed_cores > 0) {  // in few runs
    sum.closed_cores += time * state.closed_cores;
    sum.absent_cores += time * state.absent_cores;
  }
  if (state.queued > 0) sum.free_cores_while_queued += time * free_cores(state);
  if (state.queued >= options_.high_load_queue) {
    sum.high_load_time += time;
    sum.high_load_busy_cores += time * state.busy_cores;
  }
}

Integrals Series::between(Instant from, Instant to) const {
  INVARIANT(options_.keep_points, "integrals between two instants need the points");
  Integrals sum;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const Instant first = std::max(from, points_[i].at);
    const Instant last = std::min(to, points_[i + 1].at);
    if (first < last) add(sum, points_[i], last - first);
  }
  return sum;
}

}  // namespace replay::metrics
