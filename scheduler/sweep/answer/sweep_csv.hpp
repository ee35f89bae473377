// `sweep.csv`: the results of a study as a tidy table, a row for each cell and metric.
//
//   cell,<axis>,...,metric,value
//
// Rows are in the order of the axes' values, then of the study's metrics: the same results are the same bytes, in whatever
// order the cells were computed. A value has six decimals; a cell that failed or has none of a metric has an empty one.
#pragma once

#include <filesystem>

#include "scheduler/sweep/study_results.hpp"

namespace replay::sweep {

/// Replaces the file as a whole. Throws InputError.
void write_sweep_csv(const std::filesystem::path& file, const StudyResults& results);

/// What the file says: its cells, with its metrics and the values of each axis in the order in which they come, numbers
/// ascending. The name is that of the folder; `planned` are the cells that are there, and one without any value has failed
/// for a reason that the file does not have. Throws InputError with file, line and field.
[[nodiscard]] StudyResults read_sweep_csv(const std::filesystem::path& file);

}  // namespace replay::sweep
