// The trace again with what a real run measured in place of what was assumed: submit instants as they really came, and the
// work that each job did (scheduler/compare/measured_work.hpp) as its run time. A file like any trace, so that whoever
// doubts a figure can simulate it by hand.
#pragma once

#include <filesystem>
#include <string>

#include "scheduler/compare/measured_work.hpp"
#include "scheduler/experiment/scenario.hpp"

namespace replay::validate {

/// Estimates stay, but none is shorter than the work: the simulator would kill there what the real run, by its grace,
/// did not. Jobs that the run did not have, or that did not run to their own end, stay as they were. `options` name the
/// trace that was run. Throws InputError.
void write_measured_trace(const std::filesystem::path& file, const experiment::CommonOptions& options,
                          const Workload& workload, const compare::MeasuredWork& measured);

}  // namespace replay::validate
