// One cell of a validation: a trace under a policy, simulated, run for real, compared, and simulated again with what the
// real run measured. Three run folders (sim, real, measured) and the result stand in the cell's folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/experiment/run_spec.hpp"
#include "scheduler/validate/result.hpp"
#include "scheduler/validate/simulation.hpp"

namespace replay::validate {

/// What all cells of a validation have in common.
struct ValidationSetting {
  experiment::RunSpec run;   ///< for real; a cell has its own trace and policy
  std::string machine_text;  ///< RealMachine::text(): what the simulation runs on
  Duration tolerance{};      ///< of the comparison of decisions
  bool force = false;        ///< cells that have a result are run again
};

struct ValidationCell {
  std::string name;    ///< "30/poisson/easy": its folder below cells/, too
  std::string trace;   ///< file
  std::string policy;  ///< as written
  std::optional<double> load_percent{};
  std::string arrivals{};
};

/// "30/poisson/easy", without the parts that are not given.
[[nodiscard]] std::string cell_name(const std::optional<double>& load_percent, const std::string& arrivals,
                                    const std::string& policy);

/// The simulation of these jobs on the setting's machine.
[[nodiscard]] experiment::RunSpec simulated(const ValidationSetting& setting, const std::string& trace,
                                            const std::string& policy);

/// Everything that determines the result of the cell, hashes of its files included. Throws InputError, UsageError.
[[nodiscard]] nlohmann::ordered_json cell_inputs(const ValidationSetting& setting, const ValidationCell& cell);

/// Simulates the cell; returns its makespan in seconds of trace time. Writes nothing. Throws InputError, UsageError,
/// PolicyError.
[[nodiscard]] double foresee_cell(const ValidationSetting& setting, const ValidationCell& cell);

/// Programs that the cell's trace names and that are no benchmarks of ours: Programs::named_by_trace().
[[nodiscard]] std::vector<std::string> named_by_trace(const ValidationSetting& setting, const ValidationCell& cell);

/// Simulates it, runs it for real, compares, writes the result into `folder`; an old result there is removed first.
/// Throws InputError when the run did not come to its end, with the run's last messages; sweep::Interrupted.
[[nodiscard]] CellResult run_cell(const ValidationSetting& setting, const ValidationCell& cell,
                                  const std::filesystem::path& folder, const nlohmann::ordered_json& inputs);

/// The words of the real run's command, without the program.
[[nodiscard]] std::vector<std::string> real_run_words(const ValidationSetting& setting, const ValidationCell& cell,
                                                      const std::filesystem::path& out);

}  // namespace replay::validate
