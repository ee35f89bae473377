#include "scheduler/runtime_model/overheads.hpp"

#include <iterator>

#include "scheduler/model/machine.hpp"

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
  if (profile.machine.nodes.empty()) return;
  const Machine machine = Machine::parse(profile.machine.nodes);
  for (const NodeGroup& group : machine.groups())
    for (int node = 0; node < group.nodes; ++node)
      cores_of_nodes_.push_back((cores_of_nodes_.empty() ? 0 : cores_of_nodes_.back()) +
                                number(group.cores_per_node()));
}

int CostByNodes::fewest_nodes(ProcessCount processes) const {
  const auto fits = std::ranges::lower_bound(cores_of_nodes_, std::int64_t{number(processes)});
  const auto nodes = std::min<std::ptrdiff_t>(fits - cores_of_nodes_.begin() + 1, std::ssize(cores_of_nodes_));
  return std::max(1, static_cast<int>(nodes));
}

double CostByNodes::at(ProcessCount processes, int nodes) const {
  if (lists_.empty()) return 0;
  return value_on_lines(lists_.size(), nodes, [&](std::size_t i) {
    return std::pair<double, double>{lists_[i].nodes, overhead_at(lists_[i].list, processes)};
  });
}

}  // namespace replay
