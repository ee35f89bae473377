// The parts that the data of a page is made of, for the page of a run that goes on, which is sent them bit by bit. Part of
// run_data.cpp, run_json.cpp and series_columns.cpp.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "scheduler/log/text.hpp"
#include "scheduler/metrics/series.hpp"
#include "scheduler/report/page/columns.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/run_reader.hpp"
#include "scheduler/report/page/stretch_rows.hpp"

namespace replay::report {

/// A run without its tables: jobs, stretches, levels, resizes, load, and why jobs waited. `log`: where the event log is; what
/// else is known of the run is in its folder. `end`: none, the run goes on. O(jobs log jobs).
[[nodiscard]] RunData run_facts(const RunReader& run, const std::filesystem::path& log,
                                const std::optional<log::LogEnd>& end, const ShownJobs& shown,
                                const PageLimits& limits);

void add_point(SeriesColumns& columns, const metrics::Point& point, const metrics::Series& series);

[[nodiscard]] nlohmann::ordered_json jobs_json(const JobColumns& jobs, Columns& columns);
[[nodiscard]] nlohmann::ordered_json resizes_json(const ResizeColumns& resizes, Columns& columns);
[[nodiscard]] nlohmann::ordered_json series_json(const SeriesColumns& series, Columns& columns);
[[nodiscard]] nlohmann::ordered_json stretches_json(const StretchColumns& stretches, Columns& columns);
/// What may change during a run and is no table, under the names that run_json() has for it.
[[nodiscard]] nlohmann::ordered_json facts_json(const RunData& run, Columns& columns);

}  // namespace replay::report
