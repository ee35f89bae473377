// The check that the processes of a job on real cores are bound to them, registered or not. Hydra should have bound
// the ranks, but a short or wrong list leaves them unbound without an error, and a program or its libraries (threaded
// BLAS) may set other masks at any time. A process below a rank belongs on the rank's core. One that an mpiexec of the
// program's has started, or that has left the tree, belongs on the job's cores. Made several times at the start,
// because inside MPI_Init hwloc visits every core and then restores the mask that it had found, and then with every
// measurement.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/os/pu_id.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class BindingCheck {
 public:
  explicit BindingCheck(JobContext& job);

  /// Now, and a few times more.
  void begin();
  /// Puts back each process with a thread that may run outside its cores, with a note for the user the first time for
  /// each rank. Nothing happens before begin().
  void look();
  /// The ranks have been moved: what else there is of the job follows them, once the answer to the order is on its way. Finding
  /// it takes a walk through the job's processes, several times as long as moving the ranks.
  void follow_soon();
  /// Notes how often each was put back, if more than once.
  void stop();

 private:
  void look_at_start();
  void follow();
  /// Calls `visit` for each process of the job with its rank, if it has one, and the cores that it belongs on.
  template <class Visit>
  void for_each_process(Visit visit) const;
  void put_back(std::optional<std::size_t> rank, pid_t pid, std::span<const PuId> cores);
  /// Inside MPI_Init, where hwloc visits every core.
  [[nodiscard]] bool is_in_init(std::size_t rank) const;

  JobContext& job_;
  bool is_on_ = false;
  std::map<std::optional<std::size_t>, long> times_put_back_;  // by rank, none: of no one rank
  std::chrono::milliseconds next_{100};
  LoopEvent timer_;
  bool is_behind_ = false;  // what else there is has yet to follow
  LoopEvent soon_;
};

}  // namespace replay::launcher
