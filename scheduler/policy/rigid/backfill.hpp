#pragma once

#include <cstdint>
#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// EASY and what lies between it and a plan for all. Parameters: `reservations=1..|all`, `backfill=arrival|shortest|narrowest`,
/// `pass=event|instant`.
[[nodiscard]] std::unique_ptr<Policy> make_easy(const Parameters& parameters);

/// By a profile of free processors, whatever the number of reservations; with one it decides as EASY does. REQUIRES: >= 1.
[[nodiscard]] std::unique_ptr<Policy> make_reserving_backfill(PassRule rule, std::int64_t reservations);

}  // namespace replay
