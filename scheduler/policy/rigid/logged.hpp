#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// The schedule of the log itself. No parameters.
extern const PolicyEntry kLoggedPolicy;

}  // namespace replay
