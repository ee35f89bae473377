// The nodes of a machine as two jobs see them that share each node: two halves, with the same number of cores of each
// package as far as possible. Processes of a job on a node go to different packages first; the first job of a node
// takes the first core of each package, the second one the next: G-LOMARC-TS, section 4.9.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::sharing {

/// Which cores of a node a job's processes take first.
enum class Half : std::uint8_t { kFirst, kSecond };
[[nodiscard]] constexpr Half other_half(Half half) { return half == Half::kFirst ? Half::kSecond : Half::kFirst; }

/// A node that a job is on, and its half of it; a job with more processes there than the half has cores takes the first
/// half and cores of the second one.
struct Seat {
  int node;
  Half half;
};

class HalfNodes {
 public:
  /// Keeps nothing of `machine`. Throws PolicyError for a machine whose nodes have no halves: without names for its
  /// cores, with nodes that differ, with an odd number of cores per node, or fewer than four.
  explicit HalfNodes(const Machine& machine);

  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] int cores() const { return cores_; }     ///< per node: N_core
  [[nodiscard]] int half() const { return cores_ / 2; }  ///< cores of a half

  /// ceil(processes / per_node).
  [[nodiscard]] static int nodes_for(ProcessCount processes, int per_node) {
    return (processes + per_node - 1) / per_node;
  }
  /// Nodes without a job, ascending; replaces what `out` has.
  void list_free(const FreeCores& free, std::vector<int>& out) const;
  /// `processes` on the seats, `per_node` on each, the rest on the last. `slot`: the core of the half with which they
  /// begin, if they do not fill it. REQUIRES: as many seats as nodes_for().
  [[nodiscard]] Allocation allocation(ProcessCount processes, int per_node, std::span<const Seat> seats,
                                      int slot = 0) const;

 private:
  int nodes_;
  int cores_;
  std::vector<int> order_;  // of the cores of a node: the first of each package, then the second ...
};

}  // namespace replay::sharing
