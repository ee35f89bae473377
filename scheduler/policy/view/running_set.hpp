// The running jobs as policies see them: as planned, and as long as estimated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/base/pool.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// A started job, as planned: other jobs may still hold its cores, and its end is that of its estimate.
struct RunningJob {
  const Job* job = nullptr;
  Instant started{};              ///< when it was decided to start it
  std::uint64_t start_order = 0;  ///< counts starts; the oldest has the lowest
  Allocation allocation;          ///< after all decisions taken so far
  Progress budget;                ///< of work, by the estimate
  Instant estimated_end{};        ///< when the budget is used up; in the past for a job in its grace
  Duration estimate{};            ///< grows when the job is extended
  bool launched = false;          ///< false while other jobs still hold its cores
  bool malleable = false;         ///< may be shrunk; false for serial, rigid and unregistered jobs
  bool suspended = false;
  bool is_guest = false;  ///< of another virtual machine: it holds its cores until estimated_end, and is not resized
  bool gone_in_plan = false;  ///< its estimate is over, so its cores count as free although it still runs
  double cpu_use = 1;         ///< declared, or measured so far in a real run

  /// Those it was started with.
  [[nodiscard]] ProcessCount processes() const { return processes_on(allocation, job->processes); }
};

/// The running jobs in start order, and by estimated end (ties: start order). Pointers stay valid until erase().
class RunningSet {
 public:
  RunningSet() = default;
  RunningSet(const RunningSet&) = delete;
  RunningSet& operator=(const RunningSet&) = delete;

  [[nodiscard]] bool empty() const { return by_start_.empty(); }
  [[nodiscard]] std::size_t size() const { return by_start_.size(); }
  [[nodiscard]] std::span<RunningJob* const> by_start() const { return by_start_; }
  /// Without jobs that are gone in plan.
  [[nodiscard]] std::span<RunningJob* const> by_estimated_end() const {
    return std::span{by_end_}.subspan(by_end_first_);
  }

  /// O(running) in memory moved, O(log running) in comparisons; likewise the others.
  RunningJob& insert(RunningJob&& job);
  void erase(RunningJob& job);
  void set_estimated_end(RunningJob& job, Instant end);
  /// Takes it out of by_estimated_end().
  void mark_gone_in_plan(RunningJob& job);

  /// Counts changes of what jobs hold and for how long, except starts, ends and the passing of time. A policy that
  /// keeps a plan of the running jobs rebuilds it when this count has changed.
  [[nodiscard]] std::uint64_t disturbances() const { return disturbances_; }
  /// An allocation has changed, or a job holds its cores no longer.
  void note_disturbance() { ++disturbances_; }

 private:
  void unlink_end(const RunningJob& job);

  Pool<RunningJob> jobs_;
  std::vector<RunningJob*> by_start_;
  std::vector<RunningJob*> by_end_;
  std::size_t by_end_first_ = 0;
  std::uint64_t disturbances_ = 0;
};

}  // namespace replay
