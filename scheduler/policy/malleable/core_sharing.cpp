#include "scheduler/policy/malleable/core_sharing.hpp"

#include <algorithm>
#include <array>

namespace replay {
namespace {

// Surroundings::demand: what the other job's processes add to the load of the busiest core.
double demand_beside(const PlacedJob& one, const PlacedJob& other) {
  double most = 0;
  for (const CoreLoad& own : one.on.named)
    for (const CoreLoad& beside : other.on.named)
      if (own.core == beside.core)
        most = std::max(most, beside.processes * other.job.declared.cpu_use -
                                  (one.on.mpl - own.processes) * one.job.declared.cpu_use);
  return most;
}

}  // namespace

bool is_sharing(const Allocation& taken, const FreeCores& free) {
  return taken.shareable &&
         std::ranges::any_of(taken.named, [&](const CoreLoad& load) { return !free.can_be_joined(load.core); });
}

double slowdown_beside(const ClusterView& view, const PlacedJob& one, const PlacedJob& other) {
  const ModelledJob neighbour = as_declared(other.job, other.on);
  const std::array<const ModelledJob*, 1> neighbours{&neighbour};
  return 1 / view.rate_of(one.job, one.on,
                          {.demand = demand_beside(one, other), .on_its_nodes = neighbours, .machine = &view.machine});
}

}  // namespace replay
