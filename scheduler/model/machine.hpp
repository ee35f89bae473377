// A machine is nodes x packages x cores. A pool is a machine without names for its cores: policies that only count
// cores stay as cheap as a count there. Real machines and machines with nodes name their cores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay {

/// A core's index in its machine, from 0, nodes first: node 0's cores, then node 1's.
using CoreId = std::int32_t;
/// A node's index in its machine, from 0; a type of its own, so that it is not taken for a core.
enum class NodeId : std::int32_t {};

class Machine {
 public:
  /// `cores` cores that cannot be told apart. REQUIRES: cores >= 1.
  [[nodiscard]] static Machine pool(CoreCount cores);
  /// Equal nodes. REQUIRES: all >= 1.
  [[nodiscard]] static Machine cluster(int nodes, int packages_per_node, int cores_per_package);

  [[nodiscard]] CoreCount size() const { return size_; }
  [[nodiscard]] bool names_cores() const { return !node_of_.empty(); }
  /// A pool counts as one node.
  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] CoreCount cores_per_node() const { return size_ / nodes_; }
  /// REQUIRES: names_cores().
  [[nodiscard]] NodeId node_of(CoreId core) const { return node_of_[static_cast<std::size_t>(core)]; }
  [[nodiscard]] CoreId first_core(NodeId node) const { return static_cast<CoreId>(node) * cores_per_node(); }
  [[nodiscard]] int packages_per_node() const { return packages_; }

  /// "flat:128" or "16x2x2": what --machine reads and the event log keeps.
  [[nodiscard]] std::string to_text() const;
  /// Reads to_text()'s forms, and "NODESxCORES"; a prefix "emulated:" before a form with nodes is accepted and dropped.
  /// Throws InputError otherwise.
  [[nodiscard]] static Machine parse(std::string_view text);
  /// Whether `text` is for parse(); otherwise it names hardware: "local", "local:0-3", hwloc's "package:2 core:4".
  [[nodiscard]] static bool is_for_parse(std::string_view text);

 private:
  CoreCount size_ = 0;
  int nodes_ = 1;
  int packages_ = 1;
  std::vector<NodeId> node_of_;  // empty on a pool
};

}  // namespace replay
