#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// FCFS-malleable. Parameters: max_mpl, criterion, expand (registry.cpp declares them).
[[nodiscard]] std::unique_ptr<Policy> make_fcfs_malleable(const Parameters& parameters);
/// EASY-malleable: the same with backfilling. One more parameter: estimate.
[[nodiscard]] std::unique_ptr<Policy> make_easy_malleable(const Parameters& parameters);

}  // namespace replay
