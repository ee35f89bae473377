#pragma once

#include <memory>

#include "scheduler/policy/parameters.hpp"
#include "scheduler/policy/policy.hpp"

namespace replay {

/// EASY. Parameters: `pass=event|instant`.
[[nodiscard]] std::unique_ptr<Policy> make_easy(const Parameters& parameters);

}  // namespace replay
