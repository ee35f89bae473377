// Random workloads of short, medium and long jobs that slow each other down on a node, and themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/job.hpp"

namespace replay::test {

/// `jobs` jobs of up to `widest` processes, a third of them serial; with `exact` all run as long as they request. Slowdowns
/// are those of Table 4 of the G-LOMARC-TS paper.
[[nodiscard]] std::vector<TracedJob> slowed_jobs(std::uint64_t seed, int jobs, CoreCount widest, bool exact);

}  // namespace replay::test
