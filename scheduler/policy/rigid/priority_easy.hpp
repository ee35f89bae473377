#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// EASY over a queue of three classes. Parameters: `aging=top|one|off`.
extern const PolicyEntry kPriorityEasyPolicy;

}  // namespace replay
