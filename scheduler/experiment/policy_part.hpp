// Which part of a machine a policy gets, simulated and real.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/model/equal_part.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay::experiment {

struct PolicyPart : EqualPart {
  std::string note;  ///< on what is left out, for a reader of the figures
};

/// Nothing: all of it. Otherwise `policy` needs equal nodes, and those of `machine` differ.
[[nodiscard]] std::optional<PolicyPart> part_for(std::string_view policy, const Traits& traits, const Machine& machine);

}  // namespace replay::experiment
