// The results of a study, out of the lines that its shards have left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scheduler/sweep/plan.hpp"
#include "scheduler/sweep/study_results.hpp"

namespace replay::sweep {

enum class Versions : std::uint8_t { kOne, kMixed };

/// Each cell of the plan once, whichever process computed it, and however often: done rather than failed; this version
/// of the program rather than another, and then the one that sorts last. The same lines in other files, or in another
/// order, give the same results. `folder`: that of the sweep. Throws InputError: it cannot be read, or cells were
/// computed by several versions and `versions` is kOne.
[[nodiscard]] StudyResults read_results(const Plan& plan, const std::filesystem::path& folder,
                                        Versions versions = Versions::kOne);

/// How far a sweep is.
struct SweepStatus {
  std::size_t cells = 0, done = 0, failed = 0;
  std::size_t damaged = 0;                              ///< lines that cannot be read; their cells are missing
  std::size_t other_versions = 0;                       ///< lines of other versions of the program
  std::map<std::string, std::vector<CellId>> failures;  ///< by reason, in the order of the plan
  std::vector<std::string> running;                     ///< shards that processes are at
  double seconds = 0;                                   ///< that the cells took that are done
  double bytes = 0;                                     ///< of their lines
  std::map<std::string, double> mean_seconds;           ///< of cells that are done, by policy

  [[nodiscard]] std::size_t missing() const { return cells - done - failed; }
};

/// Under this version of the program. Calls `missing` with the cells that are neither done nor failed, in the order of the plan.
/// Throws InputError.
[[nodiscard]] SweepStatus read_status(const Plan& plan, const std::filesystem::path& folder,
                                      const std::function<void(std::size_t cell, CellId id)>& missing = {});

}  // namespace replay::sweep
