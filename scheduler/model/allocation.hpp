// An allocation: which cores a job holds, and how its processes lie on them. On a pool that is two numbers; where cores
// have names, each held core is listed with its processes, node by node. Ranks follow the list of nodes: the first node
// has the first ranks, at every multiprogramming level, so that shrinking and expanding never moves a rank to another
// node. The pairing says which of a node's ranks share a core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

struct CoreLoad {
  CoreId core;
  ProcessCount processes;  ///< of this job on this core; >= 1
  bool operator==(const CoreLoad&) const = default;
};

/// Cores with names: a vector that takes only a pointer while it is empty, as it is on every pool.
class CoreLoads {
 public:
  using value_type = CoreLoad;
  using iterator = CoreLoad*;
  using const_iterator = const CoreLoad*;

  CoreLoads() = default;
  CoreLoads(std::vector<CoreLoad> loads)  // NOLINT(google-explicit-constructor): the same thing
      : loads_(loads.empty() ? nullptr : std::make_unique<std::vector<CoreLoad>>(std::move(loads))) {}
  CoreLoads(std::initializer_list<CoreLoad> loads) : CoreLoads(std::vector<CoreLoad>(loads)) {}
  CoreLoads(const CoreLoads& other)
      : loads_(other.loads_ ? std::make_unique<std::vector<CoreLoad>>(*other.loads_) : nullptr) {}
  CoreLoads(CoreLoads&&) noexcept = default;
  CoreLoads& operator=(const CoreLoads& other) {
    if (this != &other) *this = CoreLoads(other);
    return *this;
  }
  CoreLoads& operator=(CoreLoads&&) noexcept = default;
  ~CoreLoads() = default;

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return loads_ ? loads_->size() : 0; }
  [[nodiscard]] CoreLoad* begin() { return loads_ ? loads_->data() : nullptr; }
  [[nodiscard]] CoreLoad* end() { return begin() + size(); }
  [[nodiscard]] const CoreLoad* begin() const { return loads_ ? loads_->data() : nullptr; }
  [[nodiscard]] const CoreLoad* end() const { return begin() + size(); }
  /// REQUIRES: i < size().
  [[nodiscard]] const CoreLoad& operator[](std::size_t i) const { return (*loads_)[i]; }

  void push_back(CoreLoad load) {
    if (!loads_) loads_ = std::make_unique<std::vector<CoreLoad>>();
    loads_->push_back(load);
  }
  void append(const CoreLoads& others) {
    for (const CoreLoad& load : others) push_back(load);
  }

  friend bool operator==(const CoreLoads& a, const CoreLoads& b) { return std::ranges::equal(a, b); }

 private:
  std::unique_ptr<std::vector<CoreLoad>> loads_;
};

struct Allocation {
  CoreCount cores = 0;
  int mpl = 1;      ///< multiprogramming level: most processes of the job on one core; 1 is expanded
  CoreLoads named;  ///< a node's cores stand together; empty on a pool
  /// Its cores may hold processes of one more job, if that is shareable too; only cores that have names. For the job's
  /// life: a resize keeps it (docs/adr/0008-jobs-that-share-cores.md).
  bool shareable = false;
  /// Processes of a job that was started at another size than it was submitted with; 0: the submitted ones. For the
  /// job's life. Where cores have names it is the sum of their loads.
  ProcessCount processes = 0;

  bool operator==(const Allocation&) const = default;
  [[nodiscard]] bool is_expanded() const { return mpl == 1; }
};

/// The processes of a job on its allocation. `submitted`: Job::processes.
[[nodiscard]] constexpr ProcessCount processes_on(const Allocation& allocation, ProcessCount submitted) {
  return allocation.processes != 0 ? allocation.processes : submitted;
}

/// The processes on its cores, where they have names.
[[nodiscard]] inline ProcessCount processes_on_cores(const Allocation& allocation) {
  ProcessCount processes = 0;
  for (const CoreLoad& load : allocation.named) processes += load.processes;
  return processes;
}

/// `processes` at multiprogramming level `mpl`: ceil(processes / mpl) cores.
[[nodiscard]] constexpr CoreCount cores_at(ProcessCount processes, int mpl) {
  return number(processes + mpl - 1) / mpl;
}
/// The most processes that `cores` take at level `mpl`.
[[nodiscard]] constexpr ProcessCount processes_at(CoreCount cores, int mpl) { return number(cores) * mpl; }
/// The level at which `processes` lie on `cores`, as evenly as they go.
[[nodiscard]] constexpr int mpl_on(ProcessCount processes, CoreCount cores) {
  return number(cores_at(processes, cores));
}

/// The part of an allocation that lies on one node.
struct NodeShare {
  std::span<const CoreLoad> cores;  ///< a run of the allocation's list
  NodeId node;
  ProcessCount processes;
};

/// The share that begins at entry `begin` of the list; it goes on to the last entry of the same node.
[[nodiscard]] inline NodeShare share_from(const Allocation& allocation, std::size_t begin, const Machine& machine) {
  const std::span<const CoreLoad> rest = std::span{allocation.named}.subspan(begin);
  const NodeId node = machine.node_of(rest.front().core);
  std::size_t size = 0;
  ProcessCount processes = 0;
  for (; size < rest.size() && machine.node_of(rest[size].core) == node; ++size) processes += rest[size].processes;
  return {rest.first(size), node, processes};
}

/// Calls visit(NodeShare) for each node, in the order of the ranks. REQUIRES: named cores, each node's together.
template <typename Visit>
void for_each_node(const Allocation& allocation, const Machine& machine, Visit visit) {
  for (std::size_t begin = 0; begin < allocation.named.size();) {
    const NodeShare share = share_from(allocation, begin, machine);
    visit(share);
    begin += share.cores.size();
  }
}

/// How many nodes its cores lie on; 0 without named cores. O(cores).
[[nodiscard]] inline int nodes_under(const Allocation& allocation, const Machine& machine) {
  int nodes = 0;
  for_each_node(allocation, machine, [&nodes](const NodeShare&) { ++nodes; });
  return nodes;
}

/// Which ranks of a node share a core. A core has as many as the allocation says, either way.
enum class Pairing : std::uint8_t {
  kBlock,  ///< neighbours: ranks 0 and 1 on the first core, 2 and 3 on the second
  kCyclic  ///< in turn: rank r of the node on its core r mod k, as long as that has room
};

/// The core of each rank, in rank order. REQUIRES: named cores.
[[nodiscard]] std::vector<CoreId> core_of_ranks(const Allocation& allocation, const Machine& machine,
                                                Pairing pairing = Pairing::kBlock);

/// Whether every rank is on the same node in both. Always so on a pool. O(cores).
[[nodiscard]] bool ranks_keep_their_nodes(const Allocation& before, const Allocation& after, const Machine& machine);

/// The cores that `to` has and `from` does not; on a pool, how many more. Its `mpl` is not set. O(cores^2) with names.
[[nodiscard]] Allocation cores_added(const Allocation& from, const Allocation& to);

/// What is wrong with an allocation on this machine, whatever other jobs hold; empty if it is well formed: cores have
/// names exactly where the machine names them, exist, are listed once and node by node, with at least one process;
/// `cores` and `mpl` agree with the list; only cores with names are shareable. O(cores log cores) with names, else
/// O(1).
[[nodiscard]] std::string_view flaw_of(const Allocation& allocation, const Machine& machine);

/// "0-3,7": core numbers in ascending order, ranges joined by commas (or by blanks, as Batsim writes them). Empty on a
/// pool.
[[nodiscard]] std::string cores_text(const Allocation& allocation, char separator = ',');

}  // namespace replay
