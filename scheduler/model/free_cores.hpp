// The free cores of a machine, and how a job's processes go onto them. On a pool that is a count. Where cores have
// names, the rules are: nodes with most free cores first (then the lower number); a node never gets more processes of a
// job than it has cores, so that every job can be expanded in place; processes never leave their node (FCFS-malleable
// paper, 3.2).
// A core is free when no job is on it. Two jobs may be on one core if both allocations are shareable, never three.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

class FreeCores {
 public:
  /// All of `machine`, which must outlive this.
  explicit FreeCores(const Machine& machine);

  /// Cores without a job.
  [[nodiscard]] CoreCount total() const { return total_; }
  /// REQUIRES: named cores for the three below.
  [[nodiscard]] CoreCount on_node(NodeId node) const { return per_node_[index_of(node)]; }
  [[nodiscard]] bool is_free(CoreId core) const { return state(core) == CoreState::kFree; }
  /// One job is on it, and its allocation is shareable.
  [[nodiscard]] bool can_be_joined(CoreId core) const { return state(core) == CoreState::kOneSharer; }

  /// Whether `allocation` can be taken as it is: each core is free or, if it is shareable, can be joined. O(cores).
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

  /// Processes of one job.
  [[nodiscard]] ProcessCount most_on(NodeId node) const { return processes_at(machine_->cores_of(node).size(), 1); }
  /// Appends the lowest free cores of `node` until `chosen` has `wanted`, or there are no more.
  void add_free(NodeId node, std::size_t wanted, std::vector<CoreId>& chosen) const;

  const Machine* machine_;
  CoreCount total_;
  std::vector<CoreCount> per_node_;  // free ones; empty on a pool
  std::vector<CoreState> states_;    // empty on a pool
};

}  // namespace replay
