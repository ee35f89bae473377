// The rate of a job by what it declares: what controller and policies reckon with. What is true of a job never gets
// into it.
#pragma once

#include <functional>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"

namespace replay {

class RuntimeModel;
struct Surroundings;

/// Declared progress per second of a job on an allocation in these surroundings, > 0, of the work that its estimate is
/// with the processes it has there (estimate_at).
using DeclaredRate = std::function<double(const Job&, const Allocation&, const Surroundings&)>;

/// By `model`, which must outlive it.
[[nodiscard]] DeclaredRate declared_rate(const RuntimeModel& model);

}  // namespace replay
