#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// Conservative backfilling. Parameters: `compress=arrival|start-order|replan`,
/// `compress-at=early-end|every-end`, `pass=event|instant`.
[[nodiscard]] std::unique_ptr<Policy> make_conservative(const Parameters& parameters);

}  // namespace replay
