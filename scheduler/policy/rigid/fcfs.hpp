#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// First come, first served. No parameters.
extern const PolicyEntry kFcfsPolicy;

}  // namespace replay
