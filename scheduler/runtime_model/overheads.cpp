#include "scheduler/runtime_model/overheads.hpp"

namespace replay {

double overhead_at(const std::vector<OverheadAt>& list, ProcessCount processes) {
  if (list.empty()) return 0;
  return value_on_lines(list.size(), number(processes), [&list](std::size_t i) {
    return std::pair<double, double>{number(list[i].processes), list[i].seconds.value};
  });
}

CostByNodes::CostByNodes(const Profile& profile, std::vector<OverheadAt> JobCosts::*kind) {
  if (!(profile.*kind).empty()) lists_.push_back({1, profile.*kind});
  for (const CostsOnNodes& costs : profile.over_nodes)
    if (!(costs.*kind).empty()) lists_.push_back({costs.nodes, costs.*kind});
}

double CostByNodes::at(ProcessCount processes, int nodes) const {
  if (lists_.empty()) return 0;
  return value_on_lines(lists_.size(), nodes, [&](std::size_t i) {
    return std::pair<double, double>{lists_[i].nodes, overhead_at(lists_[i].list, processes)};
  });
}

}  // namespace replay
