// The cores that each job used, for outputs with core numbers: jobs.csv's allocated_resources, a Gantt chart. If the
// log names cores they are taken from it. On a pool they are assigned afterwards: a job gets the lowest-numbered free
// cores, gives back the highest of its own when it shrinks, and takes the lowest free ones again when it expands.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/job_index.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// None is empty; ascending, disjoint, not touching.
using CoreRanges = std::vector<CoreRange>;

/// Cores in disjoint ranges.
[[nodiscard]] CoreCount size_of(std::span<const CoreRange> ranges);

/// The free cores of a pool. Its costs grow with the number of ranges of free cores, not of cores.
class NumberedPool {
 public:
  explicit NumberedPool(CoreCount cores = 0);
  /// Appends the `count` lowest-numbered free cores, ascending. REQUIRES: so many are free.
  void take(CoreCount count, CoreRanges& out);
  void give_back(const CoreRanges& ranges);
  [[nodiscard]] CoreCount free() const { return free_; }

 private:
  std::vector<CoreRange> ranges_;  // descending, so that the lowest are taken from the end
  CoreCount free_ = 0;
};

class CoreNames final : public history::Observer {
 public:
  void on_begin(const log::Header& header, const Machine& machine) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;

  /// The cores of `job`'s first allocation in its last run and those it gained later. Empty if it never ran. Valid until the next change.
  [[nodiscard]] std::span<const CoreRange> used(JobId job) const;
  /// The cores it has now. Empty if it has none. Valid until the next change.
  [[nodiscard]] std::span<const CoreRange> held(JobId job) const;
  /// Drops the job; its memory is reused. REQUIRES: it has ended, or no record comes any more.
  void forget(JobId job);

 private:
  // The cores of a job that was launched.
  struct Cores {
    CoreRanges awake;                ///< those it has
    CoreRanges asleep;               ///< what it had when it was suspended
    mutable CoreRanges used_before;  ///< all it had before those, which used() adds
  };

  Cores& launch(JobId job);
  void hold(Cores& job, const Allocation& allocation);
  void suspend(Cores& job);
  void resume(Cores& job);
  void release(Cores& job);

  bool names_cores_ = false;
  NumberedPool pool_;
  JobIndex index_;
  std::vector<Cores> jobs_;          // their vectors keep their memory from job to job
  std::vector<std::uint32_t> free_;  // of jobs_
};

}  // namespace replay::metrics
