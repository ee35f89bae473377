// A set of job shapes, a shape being processes and estimate: with a shape, all that are no wider and no longer belong to
// it. The jobs that fit the free cores of a plan from an instant on are such a set, and so are those that may still
// find a hole before an instant.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/policy/plan/availability.hpp"

namespace replay {

/// What a job takes at the size at which it is to start.
struct Shape {
  ProcessCount processes;
  Duration time;
};

class Shapes {
 public:
  /// Jobs of at most `estimate` may have `processes`.
  struct Step {
    Duration estimate;
    ProcessCount processes;
  };

  /// Every shape.
  Shapes() : steps_{{Duration::max(), std::numeric_limits<ProcessCount>::max()}} {}

  /// The shapes of the jobs that fit the free cores of `plan` from `from` on. A search in the plan for each step.
  void assign_fitting(const Availability& plan, Instant from);

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  /// O(steps), of which there are no more than numbers of processes; likewise the next one.
  [[nodiscard]] bool admits(ProcessCount processes, Duration estimate) const {
    for (const Step& step : steps_)
      if (estimate <= step.estimate) return processes <= step.processes;
    return false;
  }
  /// Removes this shape, and those that are at least as wide and as long.
  void exclude(ProcessCount processes, Duration estimate);

  /// Ascending estimates, descending processes.
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  /// No longer job is in the set. REQUIRES: not empty.
  [[nodiscard]] Duration longest() const { return steps_.back().estimate; }

 private:
  std::vector<Step> steps_;
};

}  // namespace replay
