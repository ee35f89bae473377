#include "scheduler/runtime_model/overheads.hpp"

#include <algorithm>
#include <cstddef>

namespace replay {
namespace {

constexpr double kMostOverhead = 1e6;  // s: beyond what is measured the line goes on, but not for ever

}  // namespace

double overhead_at(const std::vector<OverheadAt>& list, ProcessCount processes) {
  if (list.empty()) return 0;
  if (list.size() == 1) return list.front().seconds.value;
  const auto above = std::ranges::lower_bound(list, processes, {}, &OverheadAt::processes);
  const auto at = static_cast<std::size_t>(above - list.begin());
  const OverheadAt& right = list[std::clamp<std::size_t>(at, 1, list.size() - 1)];
  const OverheadAt& left = *(&right - 1);
  const double share = static_cast<double>(processes - left.processes) / (right.processes - left.processes);
  const double value = left.seconds.value + share * (right.seconds.value - left.seconds.value);
  return std::clamp(value, std::min(left.seconds.value, right.seconds.value), kMostOverhead);
}

}  // namespace replay
