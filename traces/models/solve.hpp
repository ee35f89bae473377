// The search for the factor at which a figure of a generated workload has the requested value. A figure is costly (the
// workload is generated once for each) and moves in small steps, as times are whole seconds.
#pragma once

#include <functional>

namespace replay {

struct Solution {
  double factor = 1;
  double value = 0;  ///< of the figure at `factor`
};

/// A factor > 0 at which `figure`, which must not descend, is nearest to `target`: as soon as it is within `tolerance`
/// (relative), else the nearest one found. Some 10 to 60 evaluations. REQUIRES: target > 0.
[[nodiscard]] Solution solve_factor(const std::function<double(double factor)>& figure, double target,
                                    double tolerance);

}  // namespace replay
