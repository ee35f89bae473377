// The report at the end of a run: what was left out of the trace, the result table, what went wrong, where the results are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/experiment/assumptions.hpp"
#include "scheduler/results/result_files.hpp"

namespace replay::cli {

/// What a report says beside the runs' figures.
struct ReportContext {
  std::vector<std::string> lines;  ///< what a reader has to know first
  std::string runtime_model;
  experiment::Assumptions assumed{};
};
[[nodiscard]] ReportContext context_of(const experiment::Prepared& run);

/// Prints the result table (as JSON if asked) and where the results are. Returns the exit status: that after a
/// stop signal if there was one, 1 if a job failed or was lost, or the run ended before its time, else 0.
[[nodiscard]] int report(const std::vector<results::PolicyRun>& runs, const ReportContext& context,
                         const std::filesystem::path& folder, bool json);

}  // namespace replay::cli
