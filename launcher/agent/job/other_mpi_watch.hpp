// Ends a job of several ranks when one of its processes turns out to be of another MPI (launcher/mpich/other_mpi.hpp)
// only after its start: a script starts the program, or an interpreter loads it. vmlib tells when MPI is started. Where
// it is not preloaded, what the processes have mapped tells it, looked at for the job's whole life.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class OtherMpiWatch {
 public:
  OtherMpiWatch(JobContext& job, JobEnding& ending);

  /// Looks at what the processes have mapped from now on: soon, then once a second.
  void begin();
  void stop() { timer_.disarm(); }
  /// This process of the job starts another MPI.
  void on_start(pid_t pid);

 private:
  void look();

  JobContext& job_;
  JobEnding& ending_;
  std::chrono::milliseconds next_{20};
  LoopEvent timer_;
};

}  // namespace replay::launcher
