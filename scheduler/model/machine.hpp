// A machine is nodes x packages x cores. A pool is a machine without names for its cores: policies that only count
// cores stay as cheap as a count there. Real machines and machines with nodes name their cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

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
  [[nodiscard]] NodeId node_of(CoreId core) const { return node_of_[index_of(core)]; }
  [[nodiscard]] CoreRange cores() const { return first_cores(size_); }
  [[nodiscard]] CoreRange cores_of(NodeId node) const {
    const CoreCount each = cores_per_node();
    const CoreId first{static_cast<std::int32_t>(node) * number(each)};
    return {first, next(first, each - 1)};
  }
  [[nodiscard]] int packages_per_node() const { return packages_; }
  /// The package of a core in its node, from 0. REQUIRES: names_cores().
  [[nodiscard]] std::size_t package_of(CoreId core) const {
    return index_of(core) % static_cast<std::size_t>(cores_per_node()) * static_cast<std::size_t>(packages_) /
           static_cast<std::size_t>(cores_per_node());
  }

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
