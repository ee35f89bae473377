#pragma once

#include <memory>

#include "scheduler/policy/view/parameters.hpp"
#include "scheduler/policy/view/policy.hpp"

namespace replay {

/// The planning policy, a fresh plan at every event. Parameters: `order=fcfs|sjf|ljf`, `pass=instant|event`.
[[nodiscard]] std::unique_ptr<Policy> make_plan(const Parameters& parameters);
/// plan:order=sjf and plan:order=ljf under names of their own.
[[nodiscard]] std::unique_ptr<Policy> make_sjf(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Policy> make_ljf(const Parameters& parameters);

/// The planning policy by arrival: conservative:compress=replan.
[[nodiscard]] std::unique_ptr<Policy> make_plan_by_arrival(PassRule rule);

}  // namespace replay
