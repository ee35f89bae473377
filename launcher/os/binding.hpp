// Binding of another process to a hardware thread. A rank has threads that its program did not start (UCX's), and
// affinity belongs to threads, so every thread is bound; the list is walked again until it shows no new one.
#pragma once

#include <sys/types.h>

#include "launcher/os/pu_id.hpp"
#include "launcher/os/topology.hpp"

namespace replay::launcher {

/// Binds every thread of `pid` to hardware thread `pu` alone. False: the process is gone. Throws std::system_error when
/// the kernel refuses. About 50 us for two threads.
bool bind_all_threads(const Topology& topology, pid_t pid, PuId pu);

/// Whether every thread of `pid` may run on `pu` and nowhere else. False when the process is gone.
[[nodiscard]] bool is_bound(pid_t pid, PuId pu);

}  // namespace replay::launcher
