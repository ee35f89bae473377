// Compares two runs; gives the comparison as text or JSON, for `replay diff` and `replay rerun`.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/compare/decision_list.hpp"
#include "scheduler/compare/first_difference.hpp"
#include "scheduler/compare/run_state.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

struct ComparedRun {
  std::string name;  ///< as the user gave it
  DecisionList list;
  std::optional<StateBefore> before;  ///< state before the parting, if they part
};

struct RunDifference {
  std::array<ComparedRun, 2> runs;
  std::vector<std::string> remarks;  ///< differences from the outset: trace, machine, ...
  Duration tolerance{};
  bool placements = false;
  std::optional<Parting> parting;
  std::optional<EventDifference> event;  ///< no later than the parting
  JobDifferences jobs;

  [[nodiscard]] bool none() const { return !parting && !event && jobs.none(); }
};

/// Reads both runs' event logs. Compares the cores of jobs, too, if `placements` is set and both machines are the same.
/// Throws InputError, also if the runs share no job.
[[nodiscard]] RunDifference compare_runs(const std::string& a, const std::string& b, Duration tolerance,
                                         bool placements, std::size_t most_jobs);

/// For the user: where they part and why, the differences of their jobs.
[[nodiscard]] std::string difference_text(const RunDifference& difference);
/// The part of it about the first decision that differs, several lines. REQUIRES: the runs part.
[[nodiscard]] std::string parting_text(const RunDifference& difference);
[[nodiscard]] nlohmann::ordered_json to_json(const RunDifference& difference);

}  // namespace replay::compare
