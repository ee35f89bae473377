// What RapidCheck needs to make up jobs and machines. Chance is a parameter: the seed is fixed (properties.cpp), and
// RC_PARAMS="seed=7 max_success=1000" gives other examples.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"

namespace replay::test {

/// Machines with names of up to 32 cores.
[[nodiscard]] rc::Gen<std::string> any_machine();

/// Up to 40 jobs of up to `widest` processes in the order of their submission: ties, run times of zero, rigid ones, estimates
/// that are exact or too long, and, with `overruns`, too short.
[[nodiscard]] rc::Gen<std::vector<TracedJob>> any_jobs(ProcessCount widest, bool overruns);

}  // namespace replay::test

namespace replay {
// Where RapidCheck looks for it: an example as it is shown when the property fails.
void showValue(const TracedJob& traced, std::ostream& out);
}  // namespace replay
