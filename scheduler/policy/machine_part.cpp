#include "scheduler/policy/machine_part.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace replay {

std::optional<MachinePart> part_for(std::string_view policy, const Traits& traits, const Machine& machine) {
  if (!traits.needs_equal_nodes || machine.has_equal_nodes()) return std::nullopt;
  const auto groups = machine.groups();
  const auto is_alike = [&](const NodeGroup& group) { return group.packages == groups.front().packages; };
  const CoreCount smallest = std::ranges::min(groups, {}, &NodeGroup::cores_per_node).cores_per_node();
  const int packages = std::ranges::all_of(groups, is_alike) ? groups.front().packages : 1;
  const int cores = smallest / packages;
  MachinePart part{Machine::cluster(machine.nodes(), packages, cores), {}, {}};
  for (const NodeGroup& group : groups)
    for (int node = 0; node < group.nodes; ++node)
      for (int package = 0; package < packages; ++package)
        for (int core = 0; core < cores; ++core)
          part.cores.push_back(
              next(group.first_core, node * number(group.cores_per_node()) + package * group.cores_per_package + core));
  part.note = fmt::format("{} needs equal nodes: of {} it has {}", policy, machine.to_text(), part.machine.to_text());
  if (const CoreCount left_out = machine.size() - part.machine.size(); left_out > 0)
    part.note += fmt::format(", and {} of {} cores are left out", left_out, machine.size());
  return part;
}

}  // namespace replay
