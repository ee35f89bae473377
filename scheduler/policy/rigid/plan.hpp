#pragma once

#include <memory>

#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// The planning policy, a fresh plan at every event. Parameters: `order=fcfs|sjf|ljf`, `pass=instant|event`.
extern const PolicyEntry kPlanPolicy;
/// plan:order=sjf and plan:order=ljf under names of their own.
extern const PolicyEntry kSjfPolicy;
extern const PolicyEntry kLjfPolicy;

/// The planning policy by arrival: conservative:compress=replan.
[[nodiscard]] std::unique_ptr<Policy> make_plan_by_arrival(PassRule rule);

}  // namespace replay
