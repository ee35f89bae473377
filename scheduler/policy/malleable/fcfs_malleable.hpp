#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// Parameters: max_mpl, criterion, expand (registry.cpp declares them).
[[nodiscard]] std::unique_ptr<Policy> make_fcfs_malleable(const Parameters& parameters);
/// The same with backfilling; estimate too.
[[nodiscard]] std::unique_ptr<Policy> make_easy_malleable(const Parameters& parameters);

}  // namespace replay
