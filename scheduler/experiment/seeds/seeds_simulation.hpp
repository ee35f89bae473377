// `--seeds`: simulates every policy with every seed, in parallel on all cores, and writes the results over all seeds. The
// result does not depend on the order in which the simulations end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/experiment/prepared.hpp"
#include "scheduler/experiment/seeds/seeds.hpp"

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
  ~SeedsSimulation();

  /// On the workload of the first seed.
  [[nodiscard]] const std::optional<std::string>& note_on_curves() const { return note_on_curves_; }

  /// Makes the folder if one is asked for, runs all simulations, writes seeds.json. `show` is called with lines of
  /// progress, from any thread. Nothing: a stop signal (under HeedStops) ended it, and there is no result. Throws
  /// PolicyError, InputError, UsageError if the seeds make no difference. REQUIRES: called once.
  [[nodiscard]] std::optional<SeedsOutcome> run(const std::function<void(std::string_view)>& show);

 private:
  class Inputs;  // of one seed

  [[nodiscard]] std::filesystem::path make_folder() const;
  void simulate(std::size_t seed, std::size_t policy, const std::function<void(std::string_view)>& show);
  [[nodiscard]] std::string machine_text() const;
  [[nodiscard]] SeedsOutcome outcome();

  const SeedsOptions& options_;
  std::string command_line_;
  std::vector<std::uint64_t> seeds_;
  std::vector<SeededResult> results_;
  std::vector<std::unique_ptr<Inputs>> inputs_;
  std::optional<std::string> note_on_curves_;
  std::filesystem::path folder_;
  bool writes_runs_ = false;
  std::atomic<std::size_t> done_{0};
};

}  // namespace replay::experiment
