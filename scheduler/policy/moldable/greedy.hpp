// The baseline of the moldable policies: the registry's entry of `greedy-moldable`.
#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

extern const PolicyEntry kGreedyMoldablePolicy;

}  // namespace replay
