#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Coarse time slices over an inner policy that shares space: a virtual machine for short, one for medium and one for long
/// jobs. Parameters: `inner`, `interval`, `short-slice`, `shares`, `overhead`, `overhead-at`, `short`, `medium`.
extern const PolicyEntry kScojoPectPolicy;

}  // namespace replay
