// Axes: which values get a tick, what is written there, and where a value lies. Steps are round in the unit of the axis: 1, 2, 2.5 and
// 5 times a power of ten, for times those of clock and calendar, on logarithmic axes decades.
#pragma once

#include <string>
#include <vector>

#include "scheduler/report/draw/canvas.hpp"

namespace replay::report {

struct Tick {
  double value = 0;
  std::string label;  ///< empty: a small tick
};

/// From `low` at the beginning to `high` at the end. REQUIRES: low < high; 0 < low if logarithmic.
struct Axis {
  double low = 0, high = 1;
  bool is_logarithmic = false;
  std::string name{};  ///< with the unit: "time, h"
  std::vector<Tick> ticks{};

  /// 0 at `low`, 1 at `high`; values outside lie outside.
  [[nodiscard]] double share(double value) const;
};

/// The smallest of 1, 2, 2.5, 5, 10, 20, ... that cuts 0..`most` into at most `parts` steps. REQUIRES: most > 0.
[[nodiscard]] double nice_step(double most, int parts);

/// From 0, or `low`, to the first step not below `high`, in at most `parts` steps; whole numbers only if `is_count`.
[[nodiscard]] Axis value_axis(std::string name, double high, int parts, bool is_count = false);
/// From `low` to `high`, or with `whole_steps` from the step below to the one above, in about `parts` steps. REQUIRES: low < high.
[[nodiscard]] Axis span_axis(std::string name, double low, double high, int parts, bool whole_steps);
/// From `from` to `to`, seconds, exactly; in the unit that fits, which is added to `name`.
[[nodiscard]] Axis time_axis(const std::string& name, double from, double to, int parts);
/// From 1, 2 or 5 times a power of ten to another, labelled at the powers. `is_time`: seconds, from one of "1 s", "10 s", "1 min",
/// "10 min", "1 h", "10 h", "10 d", ... to another. REQUIRES: 0 < low <= high.
[[nodiscard]] Axis log_axis(std::string name, double low, double high, bool is_time);

/// The box of the marks with its axes.
struct Plot {
  Box area{};
  Axis x{}, y{};

  [[nodiscard]] double at_x(double value) const { return area.x + area.width * x.share(value); }
  [[nodiscard]] double at_y(double value) const { return area.bottom() - area.height * y.share(value); }
  [[nodiscard]] Point at(Point value) const { return {at_x(value.x), at_y(value.y)}; }
};

struct AxisStyle {
  double text = 8, small = 7;  ///< sizes of the names and of the labels
  bool has_x_labels = true;    ///< false: another plot below has the same axis
};

/// Room that the labels and the name of a y axis need to the left of the plot.
[[nodiscard]] double room_left(const Font& font, const Axis& y, const AxisStyle& style);
/// Room below for labels and name of an x axis.
[[nodiscard]] double room_below(const AxisStyle& style);
/// Frame, ticks, labels and names. Labels that would touch the one before are left out.
void draw_axes(Canvas& canvas, const Plot& plot, const AxisStyle& style);

}  // namespace replay::report
