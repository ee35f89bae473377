// The result of one cell of a validation, a load under a policy: the figures of the simulation (S), of the real run
// (R), and of the simulation with what the real run measured (P). Each cell has a file, written when it ends, so that
// the hours of many cells can be spread: a cell with a file of the same inputs is not run again.
// docs/formats/validation-json.md describes the file.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/compare/figures.hpp"
#include "scheduler/compare/job_errors.hpp"

namespace replay::validate {

/// Figures of one of the three runs.
struct ValidatedRun {
  compare::Figures figures{};
  std::size_t jobs = 0;    ///< that ran
  std::size_t failed = 0;  ///< failed, killed or unfinished
  double makespan = 0;     ///< seconds of trace time
  int shrinks = 0, expands = 0;
};

struct CellResult {
  std::string cell;                      ///< "30/poisson/easy"
  std::string arrivals;                  ///< "" where there is one kind
  std::string policy;                    ///< as written
  std::optional<double> load_percent{};  ///< nothing: the trace as it is
  nlohmann::ordered_json inputs;         ///< everything that decides the cell's outcome, hashes of files too
  ValidatedRun simulated, real;
  std::optional<ValidatedRun> measured{};               ///< the simulation with the real run's instants and work
  std::string why_not_measured;                         ///< empty if `measured` is set
  compare::JobErrors simulated_errors;                  ///< S against R
  std::optional<compare::JobErrors> measured_errors{};  ///< P against R
  std::optional<std::string> divergence{};              ///< of S and R, explained; nothing: they decide the same
  std::optional<std::string> measured_divergence{};     ///< of P and R
  double tolerance_s = 0;                               ///< of the two above
  std::optional<bool> disturbed = false;  ///< other processes used the machine before or after; nothing: not known
  std::optional<double> load_before{}, load_after{};  ///< share of CPU time that other processes used
  std::string started, ended;                         ///< of the real run; wall clock, ISO 8601
  std::string version;                                ///< of the program

  /// S and R. A wait of at most a real millisecond counts as none.
  [[nodiscard]] compare::FigurePair pair(std::size_t figure) const;
  /// S and P, P and R. REQUIRES: measured.
  [[nodiscard]] compare::FigurePair run_time_pair(std::size_t figure) const;
  [[nodiscard]] compare::FigurePair timing_pair(std::size_t figure) const;

 private:
  [[nodiscard]] double resolution(std::size_t figure) const;
};

[[nodiscard]] nlohmann::ordered_json to_json(const CellResult& result);
/// Throws InputError naming `file` and the field that is missing or wrong.
[[nodiscard]] CellResult cell_result_of(const nlohmann::ordered_json& json, const std::string& file);

/// The cell's result in its folder; nothing if it has none yet. Throws InputError for a broken file, and for one of
/// other inputs, which it names.
[[nodiscard]] std::optional<CellResult> finished_cell(const std::filesystem::path& folder, const std::string& cell,
                                                      const nlohmann::ordered_json& inputs);
/// Writes it under another name first, so that the file is always whole.
void write_cell_result(const std::filesystem::path& folder, const CellResult& result);
/// Nothing happens if there is none.
void remove_cell_result(const std::filesystem::path& folder);

/// All pairs of figures of the cells.
[[nodiscard]] std::vector<compare::FigurePair> pairs_of(const std::vector<CellResult>& results);

}  // namespace replay::validate
