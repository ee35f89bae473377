// The nodes of an oracle's machine over time, and which of their cores a job or a plan can have: docs/formats/nodes-csv.md.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/oracle/plan.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

/// Cores on each node; a pool is one node.
using OnNodes = std::vector<int>;

/// What a job has, and until when.
struct Use {
  OnNodes cores;
  Time end;
};

class Nodes {
 public:
  explicit Nodes(const Workload& workload);

  /// The next instant at which a node changes; kNever if none is to come.
  [[nodiscard]] Time next() const;

  struct Change {
    std::size_t node;
    bool is_down;   ///< what runs there is lost
    bool is_later;  ///< it is to be back later than was known
  };
  /// The next thing that happens to a node at `now`; nothing if all has. "A row goes before what is there": before an
  /// `until` of that instant, too.
  std::optional<Change> take(Time now);

  [[nodiscard]] bool is_open(std::size_t node) const { return nodes_[node].state == NodeState::kUp; }
  /// From when on its cores are there, if no job has them: 0 for an open node; kNever for one that is closed for good.
  [[nodiscard]] Time back(std::size_t node) const { return is_open(node) ? 0 : nodes_[node].until; }
  [[nodiscard]] bool has_closed(const OnNodes& cores) const;

  /// Cores of all nodes that are up, or closed with an `until`.
  [[nodiscard]] int ever() const;
  /// Cores of the open nodes that none of the jobs has.
  [[nodiscard]] OnNodes free(const std::vector<Use>& jobs) const;
  /// "A core that a job has on a closed node comes back when the job ends or, if that is later, at `until`."
  [[nodiscard]] Plan plan(const std::vector<Use>& jobs, Time now) const;

 private:
  struct Node {
    NodeState state = NodeState::kUp;
    Time until = kNever;
    bool operator==(const Node&) const = default;
  };
  Change set(std::size_t node, Node to, Time now);

  int size_;  // of a node
  std::vector<Node> nodes_;
  std::vector<NodeEvent> events_;
  std::size_t taken_ = 0;  // of events_
};

/// The cores of a job: those of the nodes with the most free ones first. REQUIRES: it fits.
[[nodiscard]] OnNodes spread(int cores, const OnNodes& free);

}  // namespace replay::oracle
