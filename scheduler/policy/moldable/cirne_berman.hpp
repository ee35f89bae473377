#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Each job chooses its size when it is submitted. Parameters: `base=easy|conservative`, `max=full|opt`, `aging=`.
extern const PolicyEntry kCirneBermanPolicy;

}  // namespace replay
