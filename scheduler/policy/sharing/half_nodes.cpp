#include "scheduler/policy/sharing/half_nodes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "scheduler/base/error.hpp"

namespace replay::sharing {

HalfNodes::HalfNodes(const Machine& machine)
    : nodes_(machine.nodes()), cores_(machine.groups().front().cores_per_node()) {
  if (!machine.names_cores() || !machine.has_equal_nodes() || cores_ < 4 || cores_ % 2 != 0)
    throw PolicyError(fmt::format(
        "g-lomarc-ts gives halves of nodes to jobs: expected a machine of nodes with an even number of cores, four at "
        "least, found {0}; try --machine {1}x2x2, in a real run emulated:{1}x2x2",
        machine.to_text(), std::max<int>(1, machine.size() / 4)));
  const int packages = machine.groups().front().packages;
  const int of_package = cores_ / packages;
  for (int core = 0; core < of_package; ++core)
    for (int package = 0; package < packages; ++package) order_.push_back(package * of_package + core);
}

void HalfNodes::list_free(const FreeCores& free, std::vector<int>& out) const {
  out.clear();
  for (int node = 0; node < nodes_; ++node)
    if (free.on_node(NodeId{node}) == cores_) out.push_back(node);
}

Allocation HalfNodes::allocation(ProcessCount processes, int per_node, std::span<const Seat> seats, int slot) const {
  std::vector<CoreLoad> loads;
  loads.reserve(static_cast<std::size_t>(processes));
  ProcessCount left = processes;
  for (const Seat seat : seats) {
    const int first = slot + (seat.half == Half::kFirst || per_node > half() ? 0 : half());
    for (int i = 0; i < per_node && left > 0; ++i, --left)
      loads.push_back({CoreId{seat.node * cores_ + order_[static_cast<std::size_t>(first + i)]}, 1});
  }
  INVARIANT(left == 0, "{} of {} processes have no core", left, processes);
  return {.cores = cores_at(processes, 1), .mpl = 1, .named = std::move(loads), .shareable = false, .processes = 0};
}

}  // namespace replay::sharing
