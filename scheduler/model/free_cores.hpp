// Which cores are free, and how a job's processes go onto them. On a pool that is a count. Where cores have names, the
// rules are: nodes with most free cores first (then the lower number); a node never gets more processes of a job than it
// has cores, so that every job can be expanded in place; processes never leave their node (FCFS-malleable paper, 3.2).
#pragma once

#include <optional>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

class FreeCores {
 public:
  /// All of `machine`, which must outlive this.
  explicit FreeCores(const Machine& machine);

  [[nodiscard]] CoreCount total() const { return total_; }
  /// REQUIRES: named cores for the two below.
  [[nodiscard]] CoreCount on_node(NodeId node) const { return per_node_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] bool is_free(CoreId core) const { return free_[static_cast<std::size_t>(core)] != 0; }

  /// REQUIRES: every core of `allocation` is free (take), or none is (release).
  void take(const Allocation& allocation);
  void release(const Allocation& allocation);

  /// Room for `processes` at multiprogramming level `mpl`, lowest cores first; nothing if there is none. O(1) on a pool,
  /// else O(nodes log nodes + cores looked at).
  [[nodiscard]] std::optional<Allocation> place(ProcessCount processes, int mpl) const;

  /// The same processes on the same nodes at level `mpl`: keeps the first of the held cores when shrinking, adds the
  /// lowest free ones of the node when expanding. Nothing if there is no room. `held` stays taken.
  [[nodiscard]] std::optional<Allocation> at_level(const Allocation& held, ProcessCount processes, int mpl) const;

  /// As many cores of each node as `shape` has there, with the same processes on them, lowest free ones first; nothing if
  /// there is no room. Cores of a node are alike: this names cores for a shape that was found on a scratch copy.
  [[nodiscard]] std::optional<Allocation> place_like(const Allocation& shape) const;

  /// How many cores at_level(held, processes, mpl) gives back (below 0: needs), whether there is room or not.
  [[nodiscard]] CoreCount gain(const Allocation& held, ProcessCount processes, int mpl) const;

 private:
  const Machine* machine_;
  CoreCount total_;
  std::vector<CoreCount> per_node_;  // empty on a pool
  std::vector<char> free_;           // empty on a pool
};

}  // namespace replay
