// Random workloads for properties: small machines, many ties, exact and inexact estimates, zero run times.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::test {

/// `jobs` jobs for a machine of `cores`; one seed gives the same jobs on every machine.
[[nodiscard]] std::vector<TracedJob> random_jobs(std::uint64_t seed, int jobs, CoreCount cores);

/// The same jobs; most of them declare a flexibility, a speedup curve, bounds and lists of sizes. Each fits a machine of
/// `cores` with one of the sizes that it offers.
[[nodiscard]] std::vector<TracedJob> random_moldable_jobs(std::uint64_t seed, int jobs, CoreCount cores);

/// Whether it is a size that the job offers, from its declaration alone; rigid jobs and those without a curve offer the
/// submitted one.
[[nodiscard]] bool offers(const Job& job, ProcessCount size);

}  // namespace replay::test
