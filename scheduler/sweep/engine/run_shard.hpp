// Runs a shard of cells to its end: those that no process has computed yet, in children, a line for each; then cells of other shards
// that are still at work. It can be killed at any instant and started again, on any number of computers at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/sweep/engine/cells.hpp"
#include "scheduler/sweep/engine/run_cells.hpp"
#include "scheduler/sweep/engine/shard.hpp"

namespace replay::sweep {

struct ShardOptions {
  std::filesystem::path folder;  ///< of the sweep; made if it is not there
  std::string version;           ///< of the program
  Shard shard{};
  std::optional<std::size_t> only{};  ///< this cell and no other
  int jobs = 1;                       ///< cells at the same time, >= 1
  CellLimits limits{};
  bool repeats_failed = false;  ///< cells that have failed are computed again
};

/// Of the cells of the shard.
struct ShardEnd {
  std::size_t cells = 0;                          ///< 0: the interruption came before they were counted
  std::size_t done_before = 0, done = 0;          ///< `done`: by this process, with those of other shards
  std::size_t helped = 0;                         ///< of these: cells of other shards
  std::size_t failed = 0;                         ///< now and before
  std::size_t left = 0;                           ///< neither done nor failed
  std::map<std::string, std::size_t> failures{};  ///< of this process: reasons, and how many cells have them
  std::vector<std::string> try_again{};           ///< why cells are left, at most a hundred
  bool interrupted = false;                       ///< by a stop signal: stops_asked() > 0
  std::chrono::duration<double> elapsed{};

  /// 0, 1: a cell has failed, 75: cells are left, or of the stop signal.
  [[nodiscard]] int exit_status() const;
};

/// `show` gets lines of progress. REQUIRES: no other thread; a HeedStops. A full disk ends it: TryAgain. Throws InputError.
[[nodiscard]] ShardEnd run_shard(const Cells& cells, const ShardOptions& options, const Show& show);

}  // namespace replay::sweep
