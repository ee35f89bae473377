// A set of job shapes, here a shape is cores and estimate: with a shape, all that are no wider and no longer belong to
// it. The jobs that fit the free cores of a plan from an instant on are such a set, and so are those that may still
// find a hole before an instant.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/plan/availability.hpp"

namespace replay {

/// A job at the size at which it is to start.
struct Shape {
  ProcessCount processes;
  CoreCount cores;  ///< that it needs
  Duration time;    ///< its estimate
};
[[nodiscard]] inline Shape shape_at(const Job& job, ProcessCount size) {
  return {size, cores_needed(job, size), estimate_at(job, size)};
}
[[nodiscard]] inline Shape submitted_shape(const Job& job) { return {job.processes, cores_needed(job), job.estimate}; }

class Shapes {
 public:
  /// Jobs of at most `estimate` may need `cores`.
  struct Step {
    Duration estimate;
    CoreCount cores;
  };

  /// Every shape.
  Shapes() : steps_{{Duration::max(), std::numeric_limits<CoreCount>::max()}} {}

  /// The shapes of the jobs that fit the free cores of `plan` from `from` on. A search in the plan for each step.
  void assign_fitting(const Availability& plan, Instant from);

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  /// O(steps), of which there are no more than numbers of cores; likewise the next one.
  [[nodiscard]] bool admits(CoreCount cores, Duration estimate) const {
    for (const Step& step : steps_)
      if (estimate <= step.estimate) return cores <= step.cores;
    return false;
  }
  /// Removes this shape, and those that are at least as wide and as long.
  void exclude(CoreCount cores, Duration estimate);

  /// Ascending estimates, descending cores.
  [[nodiscard]] std::span<const Step> steps() const { return steps_; }
  /// No longer job is in the set. REQUIRES: not empty.
  [[nodiscard]] Duration longest() const { return steps_.back().estimate; }

 private:
  std::vector<Step> steps_;
};

}  // namespace replay
