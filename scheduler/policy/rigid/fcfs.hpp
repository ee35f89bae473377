#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// First come, first served. No parameters.
[[nodiscard]] std::unique_ptr<Policy> make_fcfs(const Parameters& parameters);

}  // namespace replay
