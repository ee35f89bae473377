// The average waits of `slack:awt=conservative`. The slack paper measures slack by the average wait of the same jobs
// under conservative backfilling, so it takes a simulation before the run. The result is written into the policy's
// text, where it is visible.
// Source: Talby and Feitelson 1999, section 4.3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scheduler/sim/simulator.hpp"

namespace replay {

/// A policy's text with numbers in place of `awt=conservative` or `awt=conservative-by-size`, each at least 60 s; a
/// size without jobs gets the mean of all. Nothing if `policy` asks for neither. Nested policies are not looked into.
/// Throws UsageError, PolicyError.
[[nodiscard]] std::optional<std::string> with_average_waits(std::string_view policy, const Machine& machine,
                                                            const Workload& workload, const RuntimeModel& model,
                                                            const SimulationOptions& options);

}  // namespace replay
