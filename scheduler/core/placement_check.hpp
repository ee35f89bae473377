// Checks whether a job may have the cores that a policy names for it, and words the error for the policy's author. The
// controller checks before it changes the plan, so that a policy's mistake ends the run with a message and not with a
// broken ledger.
#pragma once

#include <string>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"

namespace replay {

/// Whether `allocation` is well formed, there is room for it, and it carries all processes of the job,
/// which may be started with that many.
[[nodiscard]] bool can_be_taken(const Job& job, const Allocation& allocation, const FreeCores& free,
                                const Machine& machine);

/// Whether a running job of a pool that divides its work anew may be resized to `allocation`: there is room for it, it has
/// as many cores as a size that the job offers, and its level is that of the processes that the job was started with.
[[nodiscard]] bool can_be_resized(const Job& job, const Allocation& allocation, const FreeCores& free);

/// "the policy starts job 7 on 4 cores: 2 are free". REQUIRES: the allocation cannot be taken, or the machine names cores and
/// the allocation does not, as no place was found. `action` is "starts", "resizes" or "resumes".
[[nodiscard]] std::string refusal(std::string_view action, const Job& job, const Allocation& allocation,
                                  const FreeCores& free, const Machine& machine);

}  // namespace replay
