#include "scheduler/report/plot/step_curve.hpp"

#include <algorithm>
#include <cmath>

namespace replay::report {
namespace {

constexpr double kColumn = 0.5;  // points

// Calls `each` with (from, to, value) for the parts of the curve within the window.
template <class Each>
void for_each_part(std::span<const Step> steps, double end, const Window& window, const Each& each) {
  const double last = std::min(end, window.to);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double from = std::max(steps[i].time, window.from);
    const double to = std::min(i + 1 < steps.size() ? steps[i + 1].time : last, last);
    if (from < to) each(from, to, steps[i].value);
  }
}

// Gathers what lies in one column of the page.
class Columns {
 public:
  explicit Columns(Polyline& line) : line_(line) {}

  void hold(double from, double to, double y) {
    const double column = std::floor(from / kColumn);
    if (is_open_ && column != column_) flush();
    if (!is_open_) {
      is_open_ = true;
      column_ = column;
      x_ = from;
      least_ = most_ = y;
    }
    least_ = std::min(least_, y);
    most_ = std::max(most_, y);
    last_ = y;
    if (std::floor(to / kColumn) == column) return;
    flush();
    add({to, y});
  }
  void flush() {
    if (!is_open_) return;
    is_open_ = false;
    if (most_ - last_ > last_ - least_) {  // the end nearer to the last value comes last
      add({x_, most_});
      add({x_, least_});
    } else {
      add({x_, least_});
      add({x_, most_});
    }
    add({x_, last_});
  }

 private:
  void add(Point point) {
    if (!line_.empty() && line_.back().x == point.x && line_.back().y == point.y) return;
    const std::size_t size = line_.size();
    if (size > 1 && line_[size - 1].y == point.y && line_[size - 2].y == point.y) {
      line_.back() = point;  // goes on
      return;
    }
    line_.push_back(point);
  }

  Polyline& line_;
  bool is_open_ = false;
  double column_ = 0, x_ = 0, least_ = 0, most_ = 0, last_ = 0;
};

}  // namespace

Polyline step_line(std::span<const Step> steps, double end, const Window& window, const Plot& plot) {
  Polyline line;
  Columns columns(line);
  for_each_part(steps, end, window, [&](double from, double to, double value) {
    columns.hold(plot.at_x(from), plot.at_x(to), plot.at_y(value));
  });
  columns.flush();
  return line;
}

std::vector<Step> means_over(std::span<const Step> steps, double end, const Window& window, double span) {
  const double first = std::floor(window.from / span);
  std::vector<double> sums(static_cast<std::size_t>(std::max(1.0, std::ceil(window.to / span) - first))),
      times(sums.size());
  for_each_part(steps, end, window, [&](double from, double to, double value) {
    auto bin = static_cast<std::size_t>(std::max(0.0, std::floor(from / span) - first));
    for (; bin < sums.size(); ++bin) {
      const double begins = (first + static_cast<double>(bin)) * span;
      if (begins >= to) break;
      const double lasting = std::min(to, begins + span) - std::max(from, begins);
      sums[bin] += value * lasting;
      times[bin] += lasting;
    }
  });
  std::vector<Step> means;
  for (std::size_t bin = 0; bin < sums.size(); ++bin)
    if (times[bin] > 0)
      means.push_back({std::max(window.from, (first + static_cast<double>(bin)) * span), sums[bin] / times[bin]});
  return means;
}

double mean_of(std::span<const Step> steps, double end, const Window& window) {
  double sum = 0, time = 0;
  for_each_part(steps, end, window, [&](double from, double to, double value) {
    sum += value * (to - from);
    time += to - from;
  });
  return time > 0 ? sum / time : 0;
}

double round_span(const Window& window, double most) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
  constexpr double kSpans[] = {1,       2,           5,           10,           15,           30,
                               kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
                               kHour,   2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour};
  const double least = (window.to - window.from) / most;
  for (const double span : kSpans)
    if (span >= least) return span;
  return kDay * nice_step(std::max(1.0, least / kDay), 1);
}

}  // namespace replay::report
