#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// EASY over a queue of three classes. Parameters: `aging=top|one|off`.
[[nodiscard]] std::unique_ptr<Policy> make_priority_easy(const Parameters& parameters);

}  // namespace replay
