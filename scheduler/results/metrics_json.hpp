// metrics.json, the figures of a run with their units and definitions, and Batsim's summary. docs/formats/metrics-json.md
// describes it.
#pragma once

#include <filesystem>

#include "scheduler/log/record.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/metrics/summary.hpp"

namespace replay::results {

/// Throws InputError naming the file if it cannot be written.
void write_metrics_json(const std::filesystem::path& file, const log::Header& header, const metrics::JobSums& sums,
                        const metrics::Series& series, const metrics::Summary& summary);

}  // namespace replay::results
