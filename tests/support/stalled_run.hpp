// A real run without processes and without real time: the controller as the live engine drives it, an executor that
// answers late, and a clock with readings that jump, as they do for a daemon that is held up. All delays are drawn from
// a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/core/controller.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

struct StalledRun {
  MemoryLog log;
  std::string
      wrong;  ///< the first thing that may not be: a failure of the policy, jobs that wait for ever; empty: nothing
};

/// Some readings of the clock come up to a minute late, with all events of that minute; launches, moves and ends take
/// time; a few fail, a few answers come twice, and under Overrun::kKill a few jobs have no end of their own. Jobs have the
/// grace of real runs at time scale 1.
[[nodiscard]] StalledRun run_with_stalls(Policy& policy, const Machine& machine, std::vector<TracedJob> jobs,
                                         Overrun overrun, std::uint64_t seed);

}  // namespace replay::test
