// The free cores of a machine, and how a job's processes go onto them. On a pool that is a count. Where cores have
// names, the rules are: nodes with most free cores first (then the lower number); a node never gets more processes of a
// job than it has cores, so that every job can be expanded in place; processes never leave their node (FCFS-malleable
// paper, 3.2).
// A core is free when no job is on it and its node is not closed. Two jobs may be on one core if both allocations are shareable,
// never three.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

/// A node on which nothing is placed, and when it is to be up again, as far as is known (docs/formats/nodes-csv.md).
struct ClosedNode {
  NodeId node;
  Instant until;  ///< kNever: not known

  /// The same by plan: after `now`.
  [[nodiscard]] Instant up_again(Instant now) const { return std::max(until, now + Duration{1}); }
  bool operator==(const ClosedNode&) const = default;
};

/// Of a job that waits for closed nodes: "needs 6 cores, 4 are left".
[[nodiscard]] std::string too_few_cores_text(CoreCount needed, CoreCount left);

class FreeCores {
 public:
  /// All of `machine`, which must outlive this.
  explicit FreeCores(const Machine& machine);

  /// Free cores.
  [[nodiscard]] CoreCount total() const { return total_; }
  /// REQUIRES: named cores for the three below.
  [[nodiscard]] CoreCount on_node(NodeId node) const { return per_node_[index_of(node)]; }
  [[nodiscard]] bool is_free(CoreId core) const { return is_idle(core) && is_open(core); }
  /// One job is on it, its allocation is shareable, and the node is not closed.
  [[nodiscard]] bool can_be_joined(CoreId core) const { return state(core) == CoreState::kOneSharer && is_open(core); }

  /// Closes the node, or says anew until when it is closed. REQUIRES: named cores.
  void close(NodeId node, Instant until);
  /// Nothing happens if it is not closed.
  void open(NodeId node);
  /// Closes and opens nodes until those are closed that are closed in `other`, of the same machine; each `later` than there.
  void close_as(const FreeCores& other, Duration later);
  /// By node.
  [[nodiscard]] std::span<const ClosedNode> closed() const { return closed_; }
  [[nodiscard]] bool is_open(NodeId node) const { return closed_.empty() || find_closed(node) == nullptr; }
  /// Whether a core of it is on a closed node. O(cores) if there is one.
  [[nodiscard]] bool is_on_closed(const Allocation& allocation) const {
    return cores_on_open(allocation) != allocation.cores;
  }
  /// Calls take(node, cores) for what an allocation has on each closed node, and returns the rest: its cores on open ones. O(cores)
  /// if a node is closed, else O(1).
  template <class Take>
  CoreCount split_off_closed(const Allocation& allocation, Take take) const {
    CoreCount open = allocation.cores;
    if (closed_.empty()) return open;
    for_each_node(allocation, *machine_, [&](const NodeShare& share) {
      if (is_open(share.node)) return;
      const auto cores = static_cast<CoreCount>(share.cores.size());
      open -= cores;
      take(share.node, cores);
    });
    return open;
  }
  [[nodiscard]] CoreCount cores_on_open(const Allocation& allocation) const {
    return split_off_closed(allocation, [](NodeId, CoreCount) {});
  }
  /// The cores of the nodes that are up at `at`, by what is known now; kEndOfPlans: that will ever be.
  [[nodiscard]] CoreCount capacity(Instant at) const;

  /// Whether `allocation` can be taken by a job that had its cores before, or by any job if none is on a closed node: on each
  /// core there is no job or, if it is shareable, one that can be joined. O(cores).
  [[nodiscard]] bool has_room(const Allocation& allocation) const;

  /// REQUIRES: has_room(allocation) (take), or it was taken with the same `shareable` (release).
  void take(const Allocation& allocation);
  void release(const Allocation& allocation);

  /// Room for `processes` at multiprogramming level `mpl`, lowest cores first; nothing if there is none. O(1) on a
  /// pool, else O(nodes log nodes + cores looked at).
  [[nodiscard]] std::optional<Allocation> place(ProcessCount processes, int mpl) const;

  /// A shareable allocation for `processes` at level `mpl` on cores of `other` that can be joined, in `other`'s order:
  /// the second job beside a first one. Nothing if they do not suffice. REQUIRES: named cores; `other` is taken.
  [[nodiscard]] std::optional<Allocation> place_beside(const Allocation& other, ProcessCount processes, int mpl) const;

  /// The same processes on the same nodes at level `mpl`: keeps the first of the held cores when shrinking, adds the
  /// lowest free ones of the node when expanding. Nothing if there is no room. `held` stays taken.
  [[nodiscard]] std::optional<Allocation> at_level(const Allocation& held, ProcessCount processes, int mpl) const;

  /// As many cores of each node as `shape` has there, with the same processes on them, lowest free ones first; nothing
  /// if there is no room. Cores of a node are alike: this names cores for a shape that was found on a scratch copy.
  [[nodiscard]] std::optional<Allocation> place_like(const Allocation& shape) const;

  /// How many cores at_level(held, processes, mpl) gives back (below 0: needs), whether there is room or not. A core
  /// that another job is on as well counts, though it does not become free.
  [[nodiscard]] CoreCount gain(const Allocation& held, ProcessCount processes, int mpl) const;

 private:
  enum class CoreState : std::uint8_t { kFree, kOneAlone, kOneSharer, kTwoSharers };
  [[nodiscard]] CoreState state(CoreId core) const { return states_[index_of(core)]; }
  [[nodiscard]] bool is_idle(CoreId core) const { return state(core) == CoreState::kFree; }
  [[nodiscard]] bool is_open(CoreId core) const { return closed_.empty() || is_open(machine_->node_of(core)); }
  /// nullptr: it is open.
  [[nodiscard]] const ClosedNode* find_closed(NodeId node) const;

  /// Processes of one job.
  [[nodiscard]] ProcessCount most_on(NodeId node) const { return processes_at(machine_->cores_of(node).size(), 1); }
  /// Appends the lowest free cores of `node` until `chosen` has `wanted`, or there are no more.
  void add_free(NodeId node, std::size_t wanted, std::vector<CoreId>& chosen) const;

  const Machine* machine_;
  CoreCount total_;
  std::vector<CoreCount> per_node_;  // free ones; empty on a pool
  std::vector<CoreState> states_;    // empty on a pool
  std::vector<ClosedNode> closed_;   // by node
};

}  // namespace replay
