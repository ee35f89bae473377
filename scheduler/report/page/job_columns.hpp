// Which jobs of a run are in its page, and their columns. Part of run_data.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/run_reader.hpp"

namespace replay::report {

/// The rows of the job table that a page has, by their places there.
struct ShownJobs {
  std::vector<std::size_t> rows;    ///< ascending
  std::vector<std::int32_t> place;  ///< by row of the table: its place in `rows`, -1: left out
};

/// Of more jobs or stretches than `limits` allows, the jobs with the largest area (cores at the launch times run time).
/// O(n log n).
[[nodiscard]] ShownJobs shown_jobs(const RunReader& run, const PageLimits& limits);

[[nodiscard]] JobColumns job_columns(const RunReader& run, const ShownJobs& shown);

/// The class of a row: the policy's or, if the run has none, by its run time (class_of()).
[[nodiscard]] std::uint8_t class_index(const RunReader& run, std::size_t row);

/// Shares of jobs by wait, response and bounded slowdown: of all jobs, by class and by size.
[[nodiscard]] std::vector<Distribution> distributions(const RunReader& run);

/// Until the last change of the load; thinned as `limits` says, and told of in `told`.
[[nodiscard]] SeriesColumns series_columns(const metrics::Series& series, const PageLimits& limits,
                                           std::vector<std::string>& told);

/// The groups of jobs by size for which distributions are shown: serial, and up to 8, 64, 512 processes and more.
inline constexpr std::size_t kSizeGroups = 5;

/// Below kSizeGroups; it grows with the size.
[[nodiscard]] std::size_t size_group(ProcessCount processes);
/// "9 to 64 processes".
[[nodiscard]] std::string_view size_group_name(std::size_t group);

}  // namespace replay::report
