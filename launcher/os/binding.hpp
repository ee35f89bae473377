// Binding of another process to a hardware thread. A rank has threads that its program did not start (UCX's), and
// affinity belongs to threads, so every thread is bound; the list is walked again until it shows no new one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "launcher/os/pu_id.hpp"
#include "launcher/os/topology.hpp"

namespace replay::launcher {

/// Binds every thread of `pid` to these hardware threads. False: the process is gone. Throws std::system_error when the
/// kernel refuses. REQUIRES: `pus` is not empty.
bool bind_all_threads(const Topology& topology, pid_t pid, std::span<const PuId> pus);
inline bool bind_all_threads(const Topology& topology, pid_t pid, PuId pu) {
  return bind_all_threads(topology, pid, std::span{&pu, 1});
}

/// A thread that may run elsewhere than on its cores.
struct ThreadOutside {
  pid_t thread = 0;
  std::string name;
  std::string cores;  ///< that it may run on: "0-3,8"
};
/// The first thread of `pid` whose mask is not within `pus`. Nothing: all are inside, or gone. About 3 us, and
/// 0.8 us for each thread.
[[nodiscard]] std::optional<ThreadOutside> thread_outside(pid_t pid, std::span<const PuId> pus);

/// Whether every thread of `pid` may run on `pu` and nowhere else. False when the process is gone.
[[nodiscard]] bool is_bound(pid_t pid, PuId pu);

}  // namespace replay::launcher
