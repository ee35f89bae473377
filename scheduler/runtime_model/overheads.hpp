// The cost of launching, resizing or ending a job, for sizes and numbers of nodes that were measured and those between
// and beyond them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay {

/// The value at `at` on the straight line between the measured points on either side; beyond them on the line through the
/// two nearest, but never below the smaller of the two, nor above 10^6 (s). `point_at(i)` is {at, value} of the i-th of
/// `count` points, ascending. REQUIRES: a point.
template <class PointAt>
[[nodiscard]] double value_on_lines(std::size_t count, double at, PointAt point_at) {
  constexpr double kMost = 1e6;  // s: beyond what is measured the line goes on, but not for ever
  if (count == 1) return point_at(0).second;
  std::size_t right = 1;
  while (right + 1 < count && point_at(right).first < at) ++right;
  const std::pair<double, double> low = point_at(right - 1), high = point_at(right);
  const double share = (at - low.first) / (high.first - low.first);
  const double value = low.second + share * (high.second - low.second);
  return std::clamp(value, std::min(low.second, high.second), kMost);
}

/// Seconds at `processes`, on lines between the measured sizes. 0 if nothing was measured. REQUIRES: `list` ascending.
[[nodiscard]] double overhead_at(const std::vector<OverheadAt>& list, ProcessCount processes);

/// One kind of cost, such as &JobCosts::launch, by processes and by the nodes that the job's cores lie on.
class CostByNodes {
 public:
  /// Keeps what it needs of the profile.
  CostByNodes(const Profile& profile, std::vector<OverheadAt> JobCosts::*kind);

  /// Whether it was measured over several nodes. If not, all jobs cost what they do on one.
  [[nodiscard]] bool knows_several() const { return !lists_.empty() && lists_.back().nodes > 1; }
  /// On which a job fits, of the machine that was measured; 1 if that was one machine.
  [[nodiscard]] int fewest_nodes(ProcessCount processes) const;
  /// Seconds: overhead_at() of the measured numbers of nodes, on lines between those.
  [[nodiscard]] double at(ProcessCount processes, int nodes) const;

 private:
  struct OnNodes {
    int nodes;
    std::vector<OverheadAt> list;  // not empty
  };
  std::vector<OnNodes> lists_;                // ascending
  std::vector<std::int64_t> cores_of_nodes_;  // of the first one, of the first two, and so on; empty: one machine
};

}  // namespace replay
