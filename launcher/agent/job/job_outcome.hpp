// The outcome that is reported for a job, and the reason: from the order that ended it, from what the agent has seen,
// from mpiexec's exit status and last messages, and from how far the ranks came. mpiexec's exit code alone is
// unreliable.
#pragma once

#include <optional>
#include <string>

#include "launcher/agent/job/job_context.hpp"
#include "scheduler/model/event.hpp"

namespace replay::launcher {

/// As HowItEnded::unnoticed. The proxy exits before mpiexec at every end, so this alone is no cause.
inline constexpr const char* kProxyDied = "Hydra's proxy died";

struct HowItEnded {
  int exit_status = 0;                ///< mpiexec's, as waitpid gives it
  std::optional<Outcome> asked;       ///< by an order, with this outcome
  std::optional<std::string> broken;  ///< by the agent, for this reason
  std::string stopped;                ///< the processes that were stopped from outside when it was to end
  std::string unnoticed;              ///< a failure that the agent has seen and mpiexec perhaps has not
  std::string dead{};                 ///< ranks here, if that failure is their death: "rank 1", "ranks 0-2"
  bool is_elsewhere = false;  ///< it was on another node: what mpiexec says of this one's ranks is a consequence
};

/// Whether mpiexec says that its proxy's connection has ended before the proxy identified itself. If it never had a proxy, it
/// could not fork one: where another program's connection is taken for the proxy's, the proxy has been forked before.
[[nodiscard]] bool has_lost_its_proxy(const JobContext& job);

/// Whether a rank could not make its thread in MPI_Init for want of a process on this node: the job had taken nothing, or has
/// ended at its start and there still is no room for one of its size. REQUIRES: no process of the job is left, and its segment
/// is still there.
[[nodiscard]] bool was_refused_a_thread(const JobContext& job);

/// REQUIRES: no process of the job is left, and its segment is still there.
[[nodiscard]] JobEnd judge(const JobContext& job, const HowItEnded& how);

}  // namespace replay::launcher
