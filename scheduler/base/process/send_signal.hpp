// The only calls of kill(). To kill(), 0 is the caller's own group and a negative number a group or, as -1, every process
// of the user: what a failed fork returns, passed on, would end them all. A Process (process.hpp) is better where the
// process is not our child: its number may have been reused.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "scheduler/base/error.hpp"

namespace replay {

/// REQUIRES: process > 0. False: errno says why.
inline bool send_signal(pid_t process, int number) {
  INVARIANT(process > 0, "signal {} to process {}", number, process);
  return ::kill(process, number) == 0;
}

/// To the process group of which `leader` is the leader. REQUIRES: leader > 1.
inline bool send_signal_to_group(pid_t leader, int number) {
  INVARIANT(leader > 1, "signal {} to the group of process {}", number, leader);
  return ::kill(-leader, number) == 0;
}

}  // namespace replay
