// Whose rate has to be asked for again when a job's processes come to cores, move or leave them: its own, and those of
// the jobs that are on the same cores. The simulator follows the true rates with it, the controller and the comparison
// of runs the declared ones.
#pragma once

#include <vector>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/shared_cores.hpp"

namespace replay {

/// Each `ask` is called as ask(JobId, const Allocation& on, double demand): the caller asks its runtime model for the
/// rate of that job on its cores beside `demand`, and sets it.
class SharedRates {
 public:
  /// The processes of `job`, each with `cpu_use`, are on these cores now. Asks for the job and, if it may share its
  /// cores, for its neighbours. REQUIRES: it is on no shared cores yet, and has_room(on) if it may share.
  template <class Ask>
  void come(JobId job, const Allocation& on, double cpu_use, Ask ask) {
    if (!on.shareable) {
      ask(job, on, 0.0);
      return;
    }
    cores_.enter(job, on, cpu_use);
    sharers_.add(job) = {on, cpu_use};
    ask_for(job, ask);
    for (const JobId neighbour : cores_.neighbours(job, on)) ask_for(neighbour, ask);
  }

  /// They leave the cores to which they came. Asks for the neighbours and leaves the job's own rate to the caller.
  /// Nothing happens if the job is on no shared cores.
  template <class Ask>
  void leave(JobId job, Ask ask) {
    if (sharers_.empty()) return;  // as in every run in which no policy shares cores
    std::vector<JobId> neighbours;
    sharers_.take_out(job, [&](const Sharer& sharer) {
      neighbours = cores_.neighbours(job, sharer.on);
      cores_.leave(job, sharer.on);
    });
    for (const JobId neighbour : neighbours) ask_for(neighbour, ask);
  }

  /// Whether there is a seat on each of these cores.
  [[nodiscard]] bool has_room(const Allocation& on) const { return cores_.has_room(on); }

 private:
  struct Sharer {
    Allocation on{};
    double cpu_use = 0;  ///< of each process
  };

  template <class Ask>
  void ask_for(JobId job, Ask& ask) {
    const Sharer& sharer = sharers_.at(job);
    ask(job, sharer.on, cores_.demand(job, sharer.on, sharer.cpu_use));
  }

  SharedCores cores_;
  JobMap<Sharer> sharers_;  // the jobs on cores_
};

}  // namespace replay
