// A machine is nodes x packages x cores, or several such groups of nodes. A pool is a machine without names for its cores:
// policies that only count cores stay as cheap as a count there. Real machines and machines with nodes name their cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// Neighbouring nodes that are alike.
struct NodeGroup {
  int nodes = 1;
  int packages = 1;  ///< of each node
  int cores_per_package = 1;
  NodeId first_node{};  ///< this and the next one: in the machine, which sets them
  CoreId first_core{};
  bool operator==(const NodeGroup&) const = default;

  [[nodiscard]] CoreCount cores_per_node() const { return packages * cores_per_package; }
};

class Machine {
 public:
  /// `cores` cores that cannot be told apart. REQUIRES: cores >= 1.
  [[nodiscard]] static Machine pool(CoreCount cores);
  /// Equal nodes. REQUIRES: all >= 1.
  [[nodiscard]] static Machine cluster(int nodes, int packages_per_node, int cores_per_package);
  /// Nodes that may differ; groups that are alike and neighbours become one. REQUIRES: a group, all counts >= 1.
  [[nodiscard]] static Machine of(std::span<const NodeGroup> groups);

  [[nodiscard]] CoreCount size() const { return size_; }
  [[nodiscard]] bool names_cores() const { return !node_of_.empty(); }
  /// A pool counts as one node.
  [[nodiscard]] int nodes() const { return static_cast<int>(groups_.back().first_node) + groups_.back().nodes; }
  /// The nodes, in their order. A pool is a node with one package.
  [[nodiscard]] std::span<const NodeGroup> groups() const { return groups_; }
  /// They have the same cores and the same packages.
  [[nodiscard]] bool has_equal_nodes() const { return groups_.size() == 1; }
  /// REQUIRES: has_equal_nodes().
  [[nodiscard]] CoreCount cores_per_node() const;
  /// REQUIRES: names_cores().
  [[nodiscard]] NodeId node_of(CoreId core) const { return node_of_[index_of(core)]; }
  [[nodiscard]] CoreRange cores() const { return first_cores(size_); }
  [[nodiscard]] CoreRange cores_of(NodeId node) const {
    const NodeGroup& group = group_of(node);
    const CoreCount each = group.cores_per_node();
    const int before = static_cast<int>(node) - static_cast<int>(group.first_node);
    const CoreId first = next(group.first_core, before * number(each));
    return {first, next(first, each - 1)};
  }
  [[nodiscard]] int packages_of(NodeId node) const { return group_of(node).packages; }
  /// The package of a core in its node, from 0. REQUIRES: names_cores().
  [[nodiscard]] std::size_t package_of(CoreId core) const {
    const NodeGroup& group = group_of(node_of(core));
    return static_cast<std::size_t>((number(core) - number(group.first_core)) % number(group.cores_per_node()) /
                                    group.cores_per_package);
  }

  /// "flat:128", "16x2x2", or "3x2x4+1x1x8" for nodes that differ: what --machine reads and the event log keeps.
  [[nodiscard]] std::string to_text() const;
  /// Reads to_text()'s forms, and "NODESxCORES"; a prefix "emulated:" before a form with nodes is accepted and dropped.
  /// Throws InputError otherwise.
  [[nodiscard]] static Machine parse(std::string_view text);
  /// Whether `text` is for parse(); otherwise it names hardware: "local", "local:0-3", hwloc's "package:2 core:4".
  [[nodiscard]] static bool is_for_parse(std::string_view text);

 private:
  Machine() = default;
  /// O(log groups).
  [[nodiscard]] const NodeGroup& group_of(NodeId node) const {
    return *std::prev(std::ranges::upper_bound(groups_, node, {}, &NodeGroup::first_node));
  }

  CoreCount size_ = 0;
  std::vector<NodeGroup> groups_;  // at least one
  std::vector<NodeId> node_of_;    // empty on a pool
};

}  // namespace replay
