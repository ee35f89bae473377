// Whether Hydra's proxy has started all ranks of a job here, from which instant on its time limit counts, or is kept from it.
// Where a fork fails, the proxy of 4.0.2 says nothing and spins for ever. So a proxy that lacks ranks and makes no progress is
// a reason to look whether a process can be made at all; where the kernel refuses that, too, the site is at fault. It also is
// when the proxy has waited for no rank, and still lacks some after the time for registration.
#pragma once

#include <chrono>
#include <string>

#include "launcher/agent/job/job_context.hpp"
#include "launcher/agent/job/job_ending.hpp"
#include "scheduler/base/loop/loop_event.hpp"

namespace replay::launcher {

class JobStart {
 public:
  JobStart(JobContext& job, JobEnding& ending);

  /// mpiexec has been started.
  void begin();
  void stop() { look_timer_.disarm(); }
  /// A rank has registered.
  void look();

 private:
  void give_up(const std::string& why);

  JobContext& job_;
  JobEnding& ending_;
  std::chrono::steady_clock::time_point progressed_;  // the proxy has come, or has started a rank
  std::chrono::steady_clock::time_point tried_;       // to make a process
  LoopEvent look_timer_;
};

}  // namespace replay::launcher
