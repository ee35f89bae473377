// A run in virtual time that begins with jobs which another run has started.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/event.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/policy/view/policy.hpp"
#include "tests/support/schedule.hpp"

namespace replay::test {

/// Some of the first jobs are submitted and started at random instants before `now` on random cores; some of them are shrunk, asleep, have not
/// begun, or are ending. `jobs` must outlive the result.
[[nodiscard]] std::vector<Adopted> adopt_some(std::vector<TracedJob>& jobs, const Machine& machine, Instant now,
                                              std::uint64_t seed);

/// Runs all `jobs` to their end, from `now` on: those in `adopted` run then. Throws PolicyError.
MemoryLog run_on(Policy& policy, const Machine& machine, const std::vector<TracedJob>& jobs,
                 const std::vector<Adopted>& adopted, Instant now);

}  // namespace replay::test
