#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Space sharing with running malleable jobs. Parameters: `aging=top|one|off`, `resize=sizes|levels`.
extern const PolicyEntry kScojoPolicy;

}  // namespace replay
