// The jobs on shared cores, and how much CPU time they take from each other. Only jobs with shareable allocations are
// entered; a job that is alone on its cores has no neighbours. SharedRates says
// whose rate changes when a job comes, goes or moves.
#pragma once

#include <array>
#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

class SharedCores {
 public:
  /// `job` is on these cores now. REQUIRES: named cores; the job is not on them, and at most one other is.
  void enter(JobId job, const Allocation& allocation, double cpu_use);
  /// Nothing happens on cores that the job is not on.
  void leave(JobId job, const Allocation& allocation);

  /// The other jobs on the cores of `allocation`, each once, in the order of its list.
  [[nodiscard]] std::vector<JobId> neighbours(JobId job, const Allocation& allocation) const;

  /// By how much other jobs raise the load of the job's busiest core, in cores: a core's load is the sum of the CPU
  /// utilisations of all processes on it, alone it is mpl * cpu_use at most. 0 without neighbours. On cores with
  /// equally many processes of the job it is the utilisation of the neighbours' processes on the core that has most of
  /// it.
  [[nodiscard]] double demand(JobId job, const Allocation& allocation, double cpu_use) const;

 private:
  struct Seat {
    JobId job{};
    ProcessCount processes = 0;  ///< 0: free
    double cpu_use = 0;
  };
  using Seats = std::array<Seat, 2>;
  [[nodiscard]] const Seat* other_on(CoreId core, JobId job) const;

  std::vector<Seats> cores_;  // grows to the highest core that was ever entered
};

}  // namespace replay
