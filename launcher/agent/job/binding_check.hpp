// The check that each rank of a job on real cores is bound to its core, registered or not. Hydra should have bound it,
// but a short or wrong list leaves ranks unbound without an error. Checked several times: inside MPI_Init hwloc visits
// every core and then restores the mask that it had found.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/loop/loop_event.hpp"

namespace replay::launcher {

class BindingCheck {
 public:
  explicit BindingCheck(JobContext& job);

  /// Now, and a few times more. A rank that is elsewhere is bound to its core, with a note for the user.
  void begin();
  void stop() { timer_.disarm(); }

 private:
  void check();
  void put_on_its_core(std::size_t rank, pid_t pid) const;

  JobContext& job_;
  std::chrono::milliseconds next_{100};
  LoopEvent timer_;
};

}  // namespace replay::launcher
