// The rate of a job by what it declares: what controller and policies reckon with. What is true of a job never gets
// into it.
#pragma once

#include <functional>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"

namespace replay {

class RuntimeModel;

/// Declared progress per second of a job on an allocation beside others' demand (SharedCores::demand), in (0, 1].
using DeclaredRate = std::function<double(const Job&, const Allocation&, double demand)>;

/// By `model`, which must outlive it.
[[nodiscard]] DeclaredRate declared_rate(const RuntimeModel& model);

}  // namespace replay
