#include "scheduler/model/equal_part.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay {

EqualPart equal_part(const Machine& machine) {
  INVARIANT(machine.names_cores(), "the nodes of {}", machine.to_text());
  const auto groups = machine.groups();
  const bool alike =
      std::ranges::all_of(groups, [&](const NodeGroup& group) { return group.packages == groups.front().packages; });
  const NodeGroup& smallest = *std::ranges::min_element(groups, {}, &NodeGroup::cores_per_node);
  const int packages = alike ? smallest.packages : 1;
  const int cores = smallest.cores_per_node() / packages;
  EqualPart part{Machine::cluster(machine.nodes(), packages, cores), {}};
  for (const NodeGroup& group : groups)
    for (int node = 0; node < group.nodes; ++node)
      for (int package = 0; package < packages; ++package)
        for (int core = 0; core < cores; ++core)
          part.cores.push_back(
              next(group.first_core, node * number(group.cores_per_node()) + package * group.cores_per_package + core));
  return part;
}

}  // namespace replay
