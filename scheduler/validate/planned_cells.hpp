// Plans and runs a validation: its cells, those to run, the time they take, and the runs one after the other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/sweep/engine/run_cells.hpp"
#include "scheduler/validate/cell.hpp"

namespace replay::validate {

/// The cells of a trace under policies: the trace as it is, or with run times scaled to each load ("30,50"); writes those
/// traces into `folder`. Changes the setting to one for the cells' traces. Throws UsageError, InputError.
[[nodiscard]] std::vector<ValidationCell> cells_of_trace(ValidationSetting& setting, const std::string& loads,
                                                         const std::filesystem::path& folder, CoreCount cores);

/// The cells of the list ("30/easy,50"; empty: all): whole names, or beginnings. Throws UsageError for one that names
/// none.
[[nodiscard]] std::vector<ValidationCell> chosen_cells(std::vector<ValidationCell> cells, const std::string& list);

/// A cell, and what is known of it before it runs.
struct PlannedCell {
  ValidationCell cell;
  std::filesystem::path folder;
  nlohmann::ordered_json inputs{};
  std::optional<CellResult> result{};
  double real_seconds = 0;  ///< that it will take; 0 with a result
};

/// Reads the results that exist below `out`, and simulates the others; writes nothing. Throws InputError for a result
/// that cannot be used.
[[nodiscard]] std::vector<PlannedCell> plan_cells(const ValidationSetting& setting, std::vector<ValidationCell> cells,
                                                  const std::filesystem::path& out);
/// Of the cells without a result.
[[nodiscard]] double real_seconds_of(const std::vector<PlannedCell>& cells);
[[nodiscard]] std::vector<CellResult> results_of(const std::vector<PlannedCell>& cells);

/// Runs the cells without a result, one after the other: two at once would disturb each other. `say` gets a line when a
/// cell begins and when it ends. Throws sweep::Interrupted, InputError; the cells that have ended keep their results.
void run_cells(const ValidationSetting& setting, std::vector<PlannedCell>& cells, const sweep::Show& say);

}  // namespace replay::validate
