// Ranges of cores cut at the borders of nodes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "scheduler/log/record.hpp"
#include "scheduler/model/core_id.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::results {

/// The node of a core; a pool counts as one.
[[nodiscard]] inline NodeId node_of(CoreId core, const Machine& machine) {
  return machine.names_cores() ? machine.node_of(core) : NodeId{0};
}

/// For formats with a row for each core, or each node, of the machine: the header of a log alone can ask for gigabytes.
inline void expect_rows_for(const Machine& machine) {
  constexpr CoreCount kMostRows = 1'000'000;
  if (machine.size() > kMostRows)
    throw log::BadRecord(
        fmt::format("machine: expected at most {} cores, of each of which this format has a row, "
                    "found {}; `replay export --to csv` has none",
                    kMostRows, machine.size()));
}

/// Calls visit(NodeId, CoreRange) for each part of `ranges` that lies on one node. REQUIRES: the machine has the cores.
template <class Visit>
void for_each_node_range(std::span<const CoreRange> ranges, const Machine& machine, Visit visit) {
  for (const CoreRange& range : ranges)
    for (CoreId first = range.first; first <= range.last;) {
      const NodeId node = node_of(first, machine);
      const CoreId last = std::min(range.last, machine.cores_of(node).last);
      visit(node, CoreRange{first, last});
      first = next(last);
    }
}

}  // namespace replay::results
