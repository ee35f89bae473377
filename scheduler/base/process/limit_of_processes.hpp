// Whether processes can be made, and what an error of fork(), or of a new thread, means, as the user reads it.
#pragma once

#include <cstddef>

namespace replay {

inline constexpr const char* kLimitOfProcesses = "is there a limit of processes (ulimit -u, pids.max) or of memory?";

/// 0, or the error of fork() where the kernel refuses so many processes, or threads, at once. They are made for the answer,
/// end at once, and count until they have been waited for, all of them before this returns: some 0.3 ms each.
[[nodiscard]] int why_no_processes(std::size_t count);

}  // namespace replay
