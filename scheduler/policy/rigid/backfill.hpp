#pragma once

#include <cstdint>
#include <memory>

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Backfilling with reservations for one waiting job (EASY), several or all. Parameters: `reservations=1..|all`,
/// `backfill=arrival|shortest|narrowest`, `pass=event|instant`.
extern const PolicyEntry kEasyPolicy;

/// Backfilling by a profile of free processors for any number of reservations; with one it decides as EASY does.
/// REQUIRES: reservations >= 1.
[[nodiscard]] std::unique_ptr<Policy> make_reserving_backfill(PassRule rule, std::int64_t reservations);

}  // namespace replay
