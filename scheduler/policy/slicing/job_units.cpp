#include "scheduler/policy/slicing/job_units.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace replay {
namespace {

void add_cores_of(NodeId node, const Machine& machine, Allocation& allocation) {
  for (const CoreId core : machine.cores_of(node)) allocation.named.push_back({core, 1});
  allocation.cores += machine.cores_of(node).size();
}

bool is_free(NodeId node, const FreeCores& free, const Machine& machine) {
  return free.on_node(node) == machine.cores_of(node).size();
}

// Sets that grow together, each known by its least member.
class JoinedSets {
 public:
  explicit JoinedSets(std::size_t members) : parent_(members) { std::iota(parent_.begin(), parent_.end(), 0); }
  [[nodiscard]] std::size_t least_of(std::size_t member) {
    while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
    return member;
  }
  void join(std::size_t one, std::size_t other) {
    one = least_of(one), other = least_of(other);
    parent_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

Allocation whole_nodes(std::span<const Allocation* const> allocations, const Machine& machine) {
  Allocation whole;
  if (!machine.names_cores()) {
    for (const Allocation* allocation : allocations) whole.cores += allocation->cores;
    whole.processes = processes_at(whole.cores, 1);
    return whole;
  }
  std::vector<NodeId> nodes;
  for (const Allocation* allocation : allocations)
    for_each_node(*allocation, machine, [&nodes](const NodeShare& share) { nodes.push_back(share.node); });
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  for (const NodeId node : nodes) add_cores_of(node, machine, whole);
  whole.processes = processes_at(whole.cores, 1);
  return whole;
}

std::vector<std::vector<std::size_t>> units_of(std::span<const Allocation* const> allocations, const Machine& machine,
                                               const std::function<bool(std::size_t, std::size_t)>& are_of_one_group) {
  JoinedSets sets{allocations.size()};
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> first_on(machine.names_cores() ? static_cast<std::size_t>(machine.nodes()) : 0, kNone);
  if (machine.names_cores())
    for (std::size_t job = 0; job < allocations.size(); ++job)
      for_each_node(*allocations[job], machine, [&](const NodeShare& share) {
        std::size_t& first = first_on[index_of(share.node)];
        first == kNone ? static_cast<void>(first = job) : sets.join(first, job);
      });
  if (are_of_one_group)
    for (std::size_t job = 1; job < allocations.size(); ++job)
      for (std::size_t other = 0; other < job; ++other)
        if (are_of_one_group(job, other)) sets.join(job, other);
  std::vector<std::size_t> unit_of(allocations.size(), kNone);
  std::vector<std::vector<std::size_t>> units;
  for (std::size_t job = 0; job < allocations.size(); ++job) {
    const std::size_t least = sets.least_of(job);
    if (least == job) {
      unit_of[job] = units.size();
      units.emplace_back();
    }
    units[unit_of[least]].push_back(job);
  }
  return units;
}

bool has_free_node(const FreeCores& free, const Machine& machine) {
  if (!machine.names_cores()) return free.total() > 0;
  if (free.total() == 0) return false;
  for (int node = 0; node < machine.nodes(); ++node)
    if (is_free(static_cast<NodeId>(node), free, machine)) return true;
  return false;
}

FreeCores free_in_both(const FreeCores& one, const FreeCores& other, const Machine& machine) {
  FreeCores both = one;
  Allocation rest;
  if (!machine.names_cores()) {
    rest.cores = std::max<CoreCount>(0, one.total() - other.total());
    both.take(rest);
    return both;
  }
  for (int i = 0; i < machine.nodes(); ++i) {
    const auto node = static_cast<NodeId>(i);
    if (is_free(node, one, machine) && is_free(node, other, machine)) continue;
    for (const CoreId core : machine.cores_of(node))
      if (one.is_free(core)) rest.named.push_back({core, 1});
  }
  rest.cores = static_cast<CoreCount>(rest.named.size());
  both.take(rest);
  return both;
}

}  // namespace replay
