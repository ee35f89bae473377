// The section of simulator_bench that measures policies that share nodes and slice time: whole runs on the workloads of
// the G-LOMARC-TS paper by length.
#pragma once

#include <cstdint>

#include "benchmarks/perf/policy_race.hpp"
#include "scheduler/base/file/temporary_folder.hpp"

namespace replay::bench {

/// Prints a markdown table. `rules.options` are those that the section needs.
void measure_sharing(const TemporaryFolder& folder, RaceRules rules, std::uint64_t most_jobs);

}  // namespace replay::bench
