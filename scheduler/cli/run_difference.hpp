// Two runs compared, and the comparison as text or JSON: what `replay diff` prints, and `replay rerun` too.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/metrics/decision_list.hpp"
#include "scheduler/metrics/first_difference.hpp"
#include "scheduler/metrics/run_state.hpp"
#include "scheduler/model/units.hpp"

namespace replay::cli {

struct ComparedRun {
  std::string name;  ///< as the user gave it
  metrics::DecisionList list;
  std::optional<metrics::StateBefore> before;  ///< the parting, if they part
};

struct RunDifference {
  std::array<ComparedRun, 2> runs;
  std::vector<std::string> remarks;  ///< what makes the runs different things from the outset: trace, machine, ...
  Duration tolerance{};
  bool placements = false;
  std::optional<metrics::Parting> parting;
  std::optional<metrics::EventDifference> event;  ///< no later than the parting
  metrics::JobDifferences jobs;

  [[nodiscard]] bool none() const { return !parting && !event && jobs.none(); }
};

/// Reads both runs' event logs. Which cores jobs are on counts where `placements` says so and both machines are the
/// same. Throws InputError, also if the runs share no job.
[[nodiscard]] RunDifference compare_runs(const std::string& a, const std::string& b, Duration tolerance,
                                         bool placements, std::size_t most_jobs);

using replay::to_text;  // of times, which these would hide
[[nodiscard]] std::string to_text(const RunDifference& difference);
[[nodiscard]] nlohmann::ordered_json to_json(const RunDifference& difference);

}  // namespace replay::cli
