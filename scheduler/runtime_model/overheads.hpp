// The cost of launching or ending a job, for sizes that were measured and those between and beyond them.
#pragma once

#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/profile.hpp"

namespace replay {

/// Seconds at `processes`: on the straight line between the measured sizes on either side; beyond them on the line
/// through the two nearest, but never below the smaller of the two. 0 if nothing was measured. REQUIRES: `list`
/// ascending.
[[nodiscard]] double overhead_at(const std::vector<OverheadAt>& list, ProcessCount processes);

}  // namespace replay
