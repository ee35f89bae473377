#pragma once

#include <memory>

#include "scheduler/policy/parameters.hpp"
#include "scheduler/policy/policy.hpp"

namespace replay {

[[nodiscard]] std::unique_ptr<Policy> make_fcfs(const Parameters& parameters);

}  // namespace replay
