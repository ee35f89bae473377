// `--seeds`: simulates every policy with every seed, each a cell, on all cores, and writes the results over all seeds.
// They do not depend on the order in which the cells end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/base/file/scratch_folder.hpp"
#include "scheduler/experiment/assumptions.hpp"
#include "scheduler/experiment/seeds/seeds.hpp"
#include "scheduler/sweep/engine/run_cells.hpp"

namespace replay::experiment {

/// What is simulated with several seeds.
struct SeedsOptions {
  RunSpec run;        ///< of each seed; {seed} in the names of trace and side file stands for it
  std::string seeds;  ///< as parse_seeds() takes them
  int threads = 0;    ///< 0: all cores
  bool trim = false;  ///< the smallest and the largest value of each metric are dropped
  std::string out;    ///< folder, as results::make_run_folder() takes it
  bool force = false;
};

/// Several seeds' results, and what they were simulated with.
struct SeedsOutcome {
  std::string command_line;
  std::string trace;    ///< as given, perhaps with {seed}
  std::string machine;  ///< "of each trace (they differ)" where that is so
  std::string runtime_model;
  bool trimmed = false;        ///< without the smallest and the largest value of each metric
  bool traces_differ = false;  ///< each seed has its own trace
  std::vector<std::uint64_t> seeds;
  std::vector<std::vector<std::string>> notes;  ///< of each seed
  std::vector<SeededResult> results;            ///< of each policy
  std::filesystem::path folder;                 ///< with seeds.json, and the runs if they were to be written; or empty
};
/// As in seeds.json.
[[nodiscard]] nlohmann::ordered_json to_json(const SeedsOutcome& outcome);

class SeedsSimulation {
 public:
  /// Checks the options and reads the first trace; writes nothing. `options` must outlive it. Throws UsageError,
  /// InputError.
  SeedsSimulation(const SeedsOptions& options, std::string command_line);

  /// On the workload of the first seed.
  [[nodiscard]] const std::optional<std::string>& note_on_curves() const { return note_on_curves_; }

  /// Makes the folder if one is asked for, runs all simulations, writes seeds.json. A run that is written appears when
  /// it is complete. Throws as sweep::run_batch(); UsageError if the seeds make no difference. REQUIRES: called once; no
  /// other thread.
  [[nodiscard]] SeedsOutcome run(const sweep::Show& show);

 private:
  [[nodiscard]] std::string name_of(std::size_t cell) const;
  [[nodiscard]] std::string simulate(std::size_t cell) const;
  [[nodiscard]] SeedsOutcome outcome(const std::vector<std::string>& results) const;

  const SeedsOptions& options_;
  std::string command_line_;
  std::vector<std::uint64_t> seeds_;
  std::optional<std::string> note_on_curves_;
  std::filesystem::path folder_;
  std::optional<ScratchFolder> unfinished_;  // in it, for runs that are not complete; nothing: none are written
};

}  // namespace replay::experiment
