#pragma once

#include <functional>
#include <memory>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/plan/shapes.hpp"
#include "scheduler/policy/view/policy_entry.hpp"

namespace replay {

/// Conservative backfilling. Parameters: `compress=arrival|start-order|replan`, `compress-at=early-end|every-end`,
/// `pass=event|instant`.
extern const PolicyEntry kConservativePolicy;

/// The shape that a job gets when it is submitted, and keeps. `earliest(shape)` is where the earliest hole of the plan
/// begins, `cores` what the machine has; jobs of one instant are asked in the order of their numbers.
using EarliestHole = std::function<Instant(Shape tried)>;
using ShapeAtSubmission =
    std::function<Shape(const Job& job, Instant now, CoreCount cores, const EarliestHole& earliest)>;

/// `conservative:pass=instant` over jobs of these shapes.
[[nodiscard]] std::unique_ptr<Policy> make_conservative(ShapeAtSubmission shape);

}  // namespace replay
