// What happens to the nodes of a machine while a run goes on. Bodies report it, the plan and the policies follow it, and
// NAME.nodes.csv brings it to a simulation (docs/formats/nodes-csv.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// Of a node. In all but kUp it is closed: nothing is started on it, and its cores do not count.
enum class NodeState : std::uint8_t {
  kUp,
  kSilent,    ///< real runs: nothing is heard of it. Whether its jobs still run is not known
  kDrained,   ///< its jobs run on to their ends
  kReserved,  ///< the same
  kDown       ///< its jobs are lost
};

[[nodiscard]] constexpr std::string_view to_text(NodeState state) {
  switch (state) {
    case NodeState::kUp: return "up";
    case NodeState::kSilent: return "silent";
    case NodeState::kDrained: return "drained";
    case NodeState::kReserved: return "reserved";
    case NodeState::kDown: return "down";
  }
  return "?";
}

/// Whether a reservation may be called so: of letters, digits, '.', '_' and '-', one at least.
[[nodiscard]] constexpr bool is_reservation_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos;
}

/// From now on `node` is in `state`.
struct NodeChange {
  NodeId node{};
  NodeState state = NodeState::kUp;
  Instant until = kNever;   ///< when it is to be up again, as far as is known; kNever: it is not. kUp: kNever
  std::string reason;       ///< for a person; may be empty
  std::string reservation;  ///< of kReserved: an is_reservation_name(); else empty
  bool operator==(const NodeChange&) const = default;
};

/// "drained until 90 s: new disk" or "up".
[[nodiscard]] inline std::string to_text(const NodeChange& change) {
  std::string text{to_text(change.state)};
  if (!change.reservation.empty()) text += " for " + change.reservation;
  if (change.until != kNever) text += " until " + to_text(change.until) + " s";
  return change.reason.empty() ? text : text + ": " + change.reason;
}

/// A change at an instant of the trace.
struct NodeEvent {
  Instant at;
  NodeChange change;
  bool operator==(const NodeEvent&) const = default;
};

}  // namespace replay
