// RapidCheck generators for jobs and machines. The seed is fixed (properties.cpp); RC_PARAMS="seed=7 max_success=1000"
// gives other examples.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "scheduler/model/job.hpp"

namespace replay::test {

/// Machines with named cores, 32 at most.
[[nodiscard]] rc::Gen<std::string> any_machine();

/// Up to 40 jobs of up to `widest` processes, in the order of their submission: with ties, run times of zero, rigid
/// jobs, estimates that are exact or too long and, with `overruns`, too short.
[[nodiscard]] rc::Gen<std::vector<TracedJob>> any_jobs(CoreCount widest, bool overruns);

}  // namespace replay::test

namespace replay {
// Prints an example when the property fails. RapidCheck looks for this function here.
void showValue(const TracedJob& traced, std::ostream& out);
}  // namespace replay
