// SCOJO-P: the registry's entry of `scojo-p`.
#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

extern const PolicyEntry kScojoPPolicy;

}  // namespace replay
