// What the nodes of a run are called: by their hosts, if the log has them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/core_id.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::log {

class NodeNames {
 public:
  NodeNames() = default;
  /// Throws BadRecord if the header has `hosts`, and not one for each node, of letters, digits, '.', '_' and '-'.
  NodeNames(const Header& header, const Machine& machine);

  /// By node; empty if they are not known.
  [[nodiscard]] std::span<const std::string> hosts() const { return hosts_; }
  /// The host, or "node 3".
  [[nodiscard]] std::string of(NodeId node) const;

 private:
  std::vector<std::string> hosts_;
};

}  // namespace replay::log
