// Random workloads for properties: small machines, many ties, exact and inexact estimates, zero run times.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::test {

/// `jobs` jobs for a machine of `cores`; one seed gives the same jobs on every machine.
[[nodiscard]] std::vector<TracedJob> random_jobs(std::uint64_t seed, int jobs, CoreCount cores);

}  // namespace replay::test
