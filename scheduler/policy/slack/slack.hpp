#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// Slack-based priority backfilling. Parameters: `sf`, `awt`, `heuristic=ast|aat|du|dc|dp|all`, `alpha_u`, `alpha_t`,
/// `alpha_p`, `alpha_f`. With an `awt` that with_average_waits() has to replace first, it throws PolicyError at the
/// first job.
[[nodiscard]] std::unique_ptr<Policy> make_slack(const Parameters& parameters);

}  // namespace replay
