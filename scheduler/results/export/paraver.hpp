// A run as a Paraver trace: NAME.prv, NAME.pcf and NAME.row. With up to kMostApplications jobs each is an application, with a
// task for each node that it ever was on and a thread for each core there; with more, or with more threads in all than
// kMostThreads, one application has a task per node and a thread per core, and the job is the value of an event.
// Paraver takes a record only if its thread belongs to the node of its CPU, so threads are counted by node. docs/export.md
// says what the trace holds.
#pragma once

#include <cstddef>

#include "scheduler/results/export/run_log.hpp"

namespace replay::results {

/// Tests change them.
struct ParaverLimits {
  std::size_t applications = 2'000;
  std::size_t threads = 200'000;
};

/// Writes three files: .prv, .pcf, .row. Reads the log twice; memory grows by eight bytes with each change of a job.
/// Throws InputError, ExportStopped.
[[nodiscard]] Remarks export_paraver(const RunLog& run, const ExportFiles& files);
[[nodiscard]] Remarks export_paraver(const RunLog& run, const ExportFiles& files, const ParaverLimits& limits);

}  // namespace replay::results
