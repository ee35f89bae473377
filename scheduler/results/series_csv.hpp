// series.csv, queue and machine over time: one line for each instant at which they changed. docs/formats/series-csv.md
// describes it.
#pragma once

#include <filesystem>

#include "scheduler/metrics/series.hpp"

namespace replay::results {

/// Throws InputError naming the file if it cannot be written.
void write_series_csv(const std::filesystem::path& file, const metrics::Series& series);

}  // namespace replay::results
