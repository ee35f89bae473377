#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Groups of jobs share nodes, a half of the cores each, where that saves nodes and is fair to all. Parameters: variant
/// and Table 6 of the G-LOMARC-TS paper (docs/policies/sharing.md).
extern const PolicyEntry kGLomarcTsPolicy;

}  // namespace replay
