// The data of a run as the page reads it: docs/formats/report-page.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scheduler/report/page/columns.hpp"
#include "scheduler/report/page/run_data.hpp"

namespace replay::report {

/// Adds the run's columns to `columns`.
[[nodiscard]] nlohmann::ordered_json run_json(const RunData& run, Columns& columns);

}  // namespace replay::report
