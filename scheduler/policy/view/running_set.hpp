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

/// What the plan has in mind for a started job. kGone: its estimate is over; kEnds: it is being killed. From kGone on its
/// cores count as free although it still runs.
enum class Planned : std::uint8_t { kRuns, kSuspended, kGone, kEnds };

/// Where its processes are. kWaits: not launched, as other jobs still have its cores; kStays: they run, an order was refused,
/// and none is given before the plan of the job changes; kStopped: they have no cores.
enum class Physical : std::uint8_t { kWaits, kOnCores, kStays, kResizing, kSuspending, kStopped, kResuming };

/// In a run it changes by the table of core/job_life.hpp alone. Policies ask RunningJob.
struct JobState {
  Planned planned = Planned::kRuns;
  Physical physical = Physical::kWaits;
};

/// Whether a running job may be resized. kRigid: serial, declared rigid, or its ranks have not registered; kRefuses: an order
/// has failed, so it is rigid whatever its ranks say later; kGuest: of another virtual machine, it holds its cores until
/// estimated_end; kPinned: malleable, but while a node of it is closed it stays on its cores.
enum class Malleability : std::uint8_t { kRigid, kMalleable, kRefuses, kGuest, kPinned };

/// Of a job that is started with so many processes, as it declares itself.
[[nodiscard]] constexpr Malleability declared_malleability(const Job& job, ProcessCount processes) {
  return processes > 1 && job.flexibility == Flexibility::kMalleable ? Malleability::kMalleable : Malleability::kRigid;
}

/// A started job, as planned: other jobs may still hold its cores, and its end is that of its estimate.
struct RunningJob {
  const Job* job = nullptr;
  Instant started{};              ///< when it was decided to start it
  std::uint64_t start_order = 0;  ///< counts starts; the oldest has the lowest
  Allocation allocation;          ///< after all decisions taken so far
  Progress budget;                ///< of work, by the estimate
  Instant estimated_end{};        ///< when the budget is used up; in the past for a job in its grace
  Duration estimate{};            ///< grows when the job is extended
  JobState state;
  Malleability malleability = Malleability::kRigid;
  double cpu_use = 1;  ///< declared, or measured so far in a real run
  /// Real runs: how long it took from the launch until all its ranks were started, and its time limit began; of an adopted job
  /// below zero: so much of its grace was over.
  Duration begun_after{};
  static constexpr Duration kNotBegun = Duration::max();

  /// False while other jobs still hold its cores.
  [[nodiscard]] bool is_launched() const { return state.physical != Physical::kWaits; }
  /// False in a real run while not all its ranks have been started.
  [[nodiscard]] bool has_begun() const { return begun_after != kNotBegun; }
  [[nodiscard]] bool is_suspended() const { return state.planned == Planned::kSuspended; }
  /// Its estimate is over or it is being killed, so its cores count as free although it still runs.
  [[nodiscard]] bool is_gone_in_plan() const { return state.planned >= Planned::kGone; }
  [[nodiscard]] bool is_malleable() const { return malleability == Malleability::kMalleable; }
  [[nodiscard]] bool is_pinned() const { return malleability == Malleability::kPinned; }
  [[nodiscard]] bool is_guest() const { return malleability == Malleability::kGuest; }
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
  /// Takes it out of by_estimated_end(); its planned state is kGone then, if it was before that.
  void mark_gone_in_plan(RunningJob& job);

  /// Counts changes of what jobs hold and for how long, except ends, the passing of time, and starts of jobs that run at full
  /// speed: one that is slower from its start on, as its own processes slow it down, ends later than its estimate after that. A
  /// policy that keeps a plan of the running jobs rebuilds it when this count has changed.
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
