// What an error of fork(), or of a new thread, means, as the user reads it.
#pragma once

namespace replay {

inline constexpr const char* kLimitOfProcesses = "is there a limit of processes (ulimit -u, pids.max) or of memory?";

}  // namespace replay
