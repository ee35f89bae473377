#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// Self-tuning dynP. Parameters: `decider=advanced|simple|preferred`, `preferred=fcfs|sjf|ljf`, `threshold=0..1`,
/// `metric=sldwa|response|slowdown|bsld60|utilisation`, `step=all|submit`.
[[nodiscard]] std::unique_ptr<Policy> make_dynp(const Parameters& parameters);

}  // namespace replay
