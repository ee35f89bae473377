#pragma once

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Conservative backfilling. Parameters: `compress=arrival|start-order|replan`,
/// `compress-at=early-end|every-end`, `pass=event|instant`.
extern const PolicyEntry kConservativePolicy;

}  // namespace replay
