// The paper's validation experiment as a whole: its workload and seeds in the simulator, the choice of the seed to run for
// real, and the page made of the cells that have a result.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/units.hpp"
#include "scheduler/validate/cell.hpp"
#include "scheduler/validate/page.hpp"
#include "scheduler/validate/paper_experiment.hpp"
#include "scheduler/validate/paper_seeds.hpp"
#include "scheduler/validate/result.hpp"

namespace replay::validate {

struct PaperExperiment {
  bool is_physical = false;  ///< on this machine's own cores
  PaperWorkload workload;
  std::vector<SeedSeries> seeds;
  std::optional<TypicalSeed> typical;  ///< the seed that is run, if it was chosen here
};

/// Simulates the experiment with all its seeds; writes their traces into `traces`. Unless `keeps_seed`, the setting's seed
/// becomes the typical one. Throws sweep::Interrupted, InputError.
[[nodiscard]] PaperExperiment prepare_paper(ValidationSetting& setting, bool is_physical, bool keeps_seed,
                                            CoreCount cores, const std::filesystem::path& traces);

/// The results of all cells that have one, those of earlier commands too. Throws InputError for one of other inputs.
[[nodiscard]] std::vector<CellResult> finished_cells(const ValidationSetting& setting,
                                                     const std::vector<ValidationCell>& all,
                                                     const std::filesystem::path& out);

/// The page of all cells below `out`; `command` is the one that makes it. Throws InputError.
[[nodiscard]] ValidationPage page_of(const PaperExperiment& paper, const ValidationSetting& setting,
                                     const std::vector<ValidationCell>& all, const std::filesystem::path& out,
                                     std::string command);

}  // namespace replay::validate
