#pragma once

#include <memory>

#include "scheduler/policy/parameters.hpp"
#include "scheduler/policy/policy.hpp"

namespace replay {

/// Slack-based priority backfilling. Parameters: `sf`, `awt`, `heuristic=ast|aat|du|dc|dp`, `alpha_u`, `alpha_t`, `alpha_p`,
/// `alpha_f`.
[[nodiscard]] std::unique_ptr<Policy> make_slack(const Parameters& parameters);

}  // namespace replay
