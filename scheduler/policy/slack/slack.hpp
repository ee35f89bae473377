#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Slack-based priority backfilling. Parameters: `sf`, `awt`, `heuristic=ast|aat|du|dc|dp|all`, `alpha_u`, `alpha_t`,
/// `alpha_p`, `alpha_f`. With an `awt` that with_average_waits() has to replace first, it throws PolicyError at the
/// first job.
extern const PolicyEntry kSlackPolicy;

}  // namespace replay
