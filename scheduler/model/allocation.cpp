#include "scheduler/model/allocation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "scheduler/base/text/add_item.hpp"

namespace replay {
namespace {

void append_block(const NodeShare& share, std::vector<CoreId>& cores) {
  for (const CoreLoad& load : share.cores)
    cores.insert(cores.end(), static_cast<std::size_t>(load.processes), load.core);
}

// Round and round over the node's cores; a core that has all its processes is passed over.
void append_cyclic(const NodeShare& share, std::vector<CoreId>& cores) {
  const std::size_t end = cores.size() + static_cast<std::size_t>(share.processes);
  for (ProcessCount round = 0; cores.size() < end; ++round)
    for (const CoreLoad& load : share.cores)
      if (load.processes > round) cores.push_back(load.core);
}

template <typename Id>
bool has_repetition(std::vector<Id> values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) != values.end();
}

std::vector<CoreId> cores_in(const Allocation& allocation) {
  std::vector<CoreId> cores;
  cores.reserve(allocation.named.size());
  for (const CoreLoad& load : allocation.named) cores.push_back(load.core);
  return cores;
}

std::string_view flaw_of_order(const Allocation& allocation, const Machine& machine) {
  if (has_repetition(cores_in(allocation))) return "it names a core twice";
  std::vector<NodeId> nodes;
  nodes.reserve(static_cast<std::size_t>(machine.nodes()));
  for_each_node(allocation, machine, [&](const NodeShare& share) { nodes.push_back(share.node); });
  return has_repetition(std::move(nodes)) ? "it does not list its cores node by node" : "";
}

}  // namespace

std::vector<CoreId> core_of_ranks(const Allocation& allocation, const Machine& machine, Pairing pairing) {
  std::vector<CoreId> cores;
  for_each_node(allocation, machine, [&](const NodeShare& share) {
    pairing == Pairing::kBlock ? append_block(share, cores) : append_cyclic(share, cores);
  });
  return cores;
}

bool ranks_keep_their_nodes(const Allocation& before, const Allocation& after, const Machine& machine) {
  if (!machine.names_cores()) return true;
  std::size_t b = 0;
  std::size_t a = 0;
  while (b < before.named.size() && a < after.named.size()) {
    const NodeShare had = share_from(before, b, machine);
    const NodeShare has = share_from(after, a, machine);
    if (had.node != has.node || had.processes != has.processes) return false;
    b += had.cores.size();
    a += has.cores.size();
  }
  return b == before.named.size() && a == after.named.size();
}

Allocation cores_added(const Allocation& from, const Allocation& to) {
  Allocation added;
  added.shareable = to.shareable;
  if (to.named.empty()) {
    added.cores = std::max<CoreCount>(0, to.cores - from.cores);
    return added;
  }
  for (const CoreLoad& load : to.named)
    if (std::ranges::none_of(from.named, [&](const CoreLoad& held) { return held.core == load.core; }))
      added.named.push_back(load);
  added.cores = static_cast<CoreCount>(added.named.size());
  return added;
}

std::string_view flaw_of(const Allocation& allocation, const Machine& machine) {
  if (allocation.cores < 1) return "it has no cores";
  if (allocation.mpl < 1) return "its multiprogramming level is below 1";
  if (!machine.names_cores()) {
    if (!allocation.named.empty()) return "it names cores of a pool";
    return allocation.shareable ? "cores of a pool cannot be shared" : "";
  }
  if (std::ssize(allocation.named) != allocation.cores) return "it does not name as many cores as it has";
  ProcessCount most = 0;
  CoreId last{-1};
  bool ascending = true;
  for (const CoreLoad& load : allocation.named) {
    if (!machine.cores().contains(load.core)) return "it names a core that does not exist";
    if (load.processes < 1) return "it names a core without a process";
    most = std::max(most, load.processes);
    ascending = ascending && load.core > last;
    last = load.core;
  }
  if (most != allocation.mpl) return "its multiprogramming level is not that of its fullest core";
  return ascending ? "" : flaw_of_order(allocation, machine);
}

std::string cores_text(const Allocation& allocation, char separator) {
  std::vector<CoreId> cores = cores_in(allocation);
  std::ranges::sort(cores);
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == next(cores[last])) ++last;
    add_item(text, {&separator, 1}, "{}", cores[i]);
    if (last != i) text += fmt::format("-{}", cores[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace replay
