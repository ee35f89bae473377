// The exports, one file of code each, which says in its first paragraph what its format is. `files` are as many as the
// format has suffixes in formats.cpp, in that order. Each throws InputError and ExportStopped; if the log is the reason, no
// file has its name.
#pragma once

#include "scheduler/results/export/run_log.hpp"

namespace replay::results {

[[nodiscard]] Remarks export_perfetto(const RunLog& run, const ExportFiles& files);
[[nodiscard]] Remarks export_paje(const RunLog& run, const ExportFiles& files);
/// An InputError, too, if no job ran: Evalys loads no file without cores.
[[nodiscard]] Remarks export_evalys(const RunLog& run, const ExportFiles& files);
[[nodiscard]] Remarks export_batsim(const RunLog& run, const ExportFiles& files);
/// Reads the log twice: the header states the number of jobs.
[[nodiscard]] Remarks export_swf(const RunLog& run, const ExportFiles& files);
[[nodiscard]] Remarks export_stretches_csv(const RunLog& run, const ExportFiles& files);
[[nodiscard]] Remarks export_gnuplot(const RunLog& run, const ExportFiles& files);

}  // namespace replay::results
