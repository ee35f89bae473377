// Which part of a machine a policy gets, simulated and real: all of it, unless the policy needs equal nodes and they differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

struct MachinePart {
  Machine machine;
  std::vector<CoreId> cores;  ///< by core of `machine`: which one of the whole machine it is
  std::string note;           ///< on what is left out, for a reader of the figures
};

/// Nothing: all of `machine`. Otherwise all of its nodes, each with as many cores as the smallest one: if they have equally
/// many packages, the first cores of each package, else the first cores of the node, as of one package.
[[nodiscard]] std::optional<MachinePart> part_for(std::string_view policy, const Traits& traits,
                                                  const Machine& machine);

}  // namespace replay
