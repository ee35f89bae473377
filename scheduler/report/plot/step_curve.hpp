// Curves over time that hold a value until the next change, made small enough to be drawn: what happens within half a point becomes one
// vertical line from the least to the largest value, so that no peak is lost.
#pragma once

#include <span>
#include <vector>

#include "scheduler/report/draw/axis.hpp"
#include "scheduler/report/plot/plot_run.hpp"

namespace replay::report {

/// The value from `time` until the next step.
struct Step {
  double time = 0, value = 0;
};

/// The part of the curve within the window, as a line on the page; empty if none is. The last value holds until the window's end, or
/// until `end` if that is earlier. REQUIRES: ascending times. O(steps).
[[nodiscard]] Polyline step_line(std::span<const Step> steps, double end, const Window& window, const Plot& plot);

/// Means over spans of equal length, which begin at multiples of it; the first and the last are cut by the window and by the curve. O(steps).
[[nodiscard]] std::vector<Step> means_over(std::span<const Step> steps, double end, const Window& window, double span);

/// The mean over the part of the window that the curve covers; 0 if it covers none.
[[nodiscard]] double mean_of(std::span<const Step> steps, double end, const Window& window);

/// The shortest of 1, 2, 5, 10, 15, 30 s, minutes, 1, 2, 3, 6, 12 h, days, of which the window has at most `most`.
[[nodiscard]] double round_span(const Window& window, double most);

}  // namespace replay::report
