// Computes cells, some in children at the same time, or one after the other in this process. A queue says what comes
// next and takes the results: that of a shard (run_shard.hpp), or of a batch, whose results are wanted at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/sweep/engine/children.hpp"

namespace replay::sweep {

/// Takes a line of progress.
using Show = std::function<void(std::string_view)>;

class CellQueue {
 public:
  virtual ~CellQueue() = default;
  /// The next cell to compute. Nothing: there is none now.
  [[nodiscard]] virtual std::optional<std::size_t> next() = 0;
  /// Whether there will be none any more. Called after next() had nothing.
  [[nodiscard]] virtual bool is_over() const = 0;
  virtual void take(CellEnd end) = 0;
  /// Called twice a second at least.
  virtual void look() = 0;
};

/// Until the queue is over or a stop signal comes (under HeedStops); then children are killed. `jobs`: >= 1, at the
/// same time. Throws what the queue throws, TryAgain where no child can be made. REQUIRES: no other thread.
void run_cells(CellQueue& queue, const Compute& compute, int jobs, CellLimits limits = {});

/// "12 of 300 cells, MORE; 3.2 cells/s, 5 min left".
struct Progress {
  std::size_t cells = 0, done = 0, failed = 0;
  std::size_t computed = 0;  ///< since `started`
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  [[nodiscard]] std::string text(std::string_view more = {}) const;
};

/// Thrown after a stop signal (under HeedStops): what has not ended has no result.
struct Interrupted {};

struct Batch {
  std::size_t count = 0;
  Compute compute{};
  std::function<std::string(std::size_t cell)> name{};  ///< of a cell, for a message about its process
  std::function<bool(std::size_t cell)> is_done{};      ///< is left out; nothing: none is
  int jobs = 0;                                         ///< at the same time; 0: as many as this process may use cores
};

/// The results by number; those of cells that were left out are empty. Where a cell fails, no further one is begun, and
/// of those that have failed the first one's UsageError, TryAgain or InputError is thrown. Throws Interrupted.
/// REQUIRES: no other thread.
std::vector<std::string> run_batch(const Batch& batch, const Show& show);

/// The same in this process, one after the other, without scratch folders or progress: for cells that start processes
/// of their own, such as real runs. What compute() throws ends it.
std::vector<std::string> run_here(const Batch& batch);

}  // namespace replay::sweep
