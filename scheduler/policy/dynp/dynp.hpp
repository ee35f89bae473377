#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Self-tuning dynP. Parameters: `decider=advanced|simple|preferred`, `preferred=fcfs|sjf|ljf`, `threshold=0..1`,
/// `metric=sldwa|response|slowdown|bsld60|utilisation`, `step=all|submit`.
extern const PolicyEntry kDynpPolicy;

}  // namespace replay
