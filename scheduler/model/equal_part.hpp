// The part of a machine that has equal nodes: for policies that cannot use others.
#pragma once

#include <vector>

#include "scheduler/model/core_id.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

struct EqualPart {
  Machine machine;
  std::vector<CoreId> cores;  ///< by core of `machine`: which one of the whole machine it is
};

/// All nodes of `machine`, each with as many cores as the smallest one. If all nodes have as many packages, the first cores
/// of each package; else the first cores of the node, as of one package. REQUIRES: named cores.
[[nodiscard]] EqualPart equal_part(const Machine& machine);

}  // namespace replay
