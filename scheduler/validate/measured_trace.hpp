// Writes the trace with the measured values of a real run in place of the assumed ones: the actual submit instants, and
// the work that each job did (scheduler/compare/measured_work.hpp) as its run time. It is an ordinary trace, so that a
// reader can check a figure with a simulation by hand.
#pragma once

#include <filesystem>

#include "scheduler/compare/measured_work.hpp"
#include "scheduler/experiment/run_spec.hpp"

namespace replay::validate {

/// Estimates stay, but none is shorter than the work: the simulator would kill such a job, and the real run, with its
/// grace, did not. Jobs that the run did not have, or that did not run to their own end, stay as they were. `run`
/// names the trace that was run. Throws InputError.
void write_measured_trace(const std::filesystem::path& file, const experiment::RunSpec& run, const Workload& workload,
                          const compare::MeasuredWork& measured);

}  // namespace replay::validate
