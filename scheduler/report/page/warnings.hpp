// What a reader of a run has to know first: jobs that failed, a log that was cut off, a disturbed machine. Part of run_data.cpp.
#pragma once

#include <filesystem>
#include <vector>

#include "scheduler/log/text.hpp"
#include "scheduler/report/page/job_columns.hpp"
#include "scheduler/report/page/run_data.hpp"
#include "scheduler/report/page/run_reader.hpp"

namespace replay::report {

/// At most `most` of a kind, and one that says how many more there are. Those that the log cannot say (a disturbed machine, an
/// interruption) are taken from `folder`/run.json, if there is one.
[[nodiscard]] std::vector<PageWarning> page_warnings(const RunReader& run, const std::optional<log::LogEnd>& end,
                                                     const ShownJobs& shown, const std::filesystem::path& folder,
                                                     std::size_t most);

}  // namespace replay::report
