#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// FCFS-malleable. Parameters: `max_mpl`, `criterion`, `expand`.
extern const PolicyEntry kFcfsMalleablePolicy;
/// EASY-malleable: the same with backfilling. One more parameter: `estimate`.
extern const PolicyEntry kEasyMalleablePolicy;

}  // namespace replay
