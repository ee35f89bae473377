// What becomes a guest as a whole. Where cores have names, classes exchange whole nodes, so that jobs of one class never
// slow down those of another: jobs that have a core on one node, directly or through other jobs, are one unit. On a pool
// each job is a unit.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

/// All cores of the nodes on which the allocations have a core; on a pool, the sum of their cores.
[[nodiscard]] Allocation whole_nodes(std::span<const Allocation* const> allocations, const Machine& machine);

/// The units of jobs with these allocations: indices, in order inside a unit, and units by their first index. Jobs of
/// one group are one unit, wherever they are. O(cores + jobs^2).
[[nodiscard]] std::vector<std::vector<std::size_t>> units_of(
    std::span<const Allocation* const> allocations, const Machine& machine,
    const std::function<bool(std::size_t, std::size_t)>& are_of_one_group = nullptr);

/// Whether a node is free, all of it; on a pool, a core.
[[nodiscard]] bool has_free_node(const FreeCores& free, const Machine& machine);

/// The nodes that are free, all of them, in both; on a pool, as many cores as are free in both. O(cores).
[[nodiscard]] FreeCores free_in_both(const FreeCores& one, const FreeCores& other, const Machine& machine);

}  // namespace replay
