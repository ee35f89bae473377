// What a policy sees: the clock, the machine, free cores, the queue and the running jobs, all as planned. A wrapping
// policy builds views of its own from the same parts, so nothing here depends on the controller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "scheduler/base/pool.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/free_cores.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/machine.hpp"
#include "scheduler/model/progress.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/runtime_model/declared_rate.hpp"

namespace replay {

/// What a policy looks for in the queue: jobs of at most `processes` processes that are estimated to take at most
/// `estimate` or, whatever their estimate, have at most `narrow` processes.
struct Wanted {
  ProcessCount processes;
  Duration estimate;
  ProcessCount narrow = 0;

  [[nodiscard]] bool admits(ProcessCount of_processes, Duration of_estimate) const {
    return of_processes <= processes && (of_estimate <= estimate || of_processes <= narrow);
  }
};

/// Waiting jobs by (submitted, job number), contiguous in memory. Removal leaves a hole; holes are closed when there
/// are many. A job must outlive its stay in the queue.
class WaitingQueue {
 public:
  class iterator {
   public:
    using value_type = const Job*;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(const Job* const* at, const Job* const* end) : at_(at), end_(end) { skip_holes(); }
    const Job* operator*() const { return *at_; }
    iterator& operator++() {
      ++at_;
      skip_holes();
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    friend class WaitingQueue;
    void skip_holes() {
      while (at_ != end_ && *at_ == nullptr) ++at_;
    }
    const Job* const* at_ = nullptr;
    const Job* const* end_ = nullptr;
  };

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// REQUIRES: not empty.
  [[nodiscard]] const Job& head() const { return **begin(); }
  [[nodiscard]] iterator begin() const { return {slots_.data() + first_, slots_.data() + slots_.size()}; }
  [[nodiscard]] iterator end() const { return {slots_.data() + slots_.size(), slots_.data() + slots_.size()}; }

  /// The first wanted job at or after `from`; end() if there is none. About O(log queue): for nested stretches of a
  /// long queue the least estimate of the jobs of at most 1, 2, 4, ... processes is stored, and stretches that cannot
  /// have a wanted job are skipped.
  [[nodiscard]] iterator find(iterator from, const Wanted& wanted) const;

  /// O(1) when `job` comes last in order, else O(queue).
  void insert(const Job& job);
  /// Nothing happens if it is not there. O(log queue).
  void remove(const Job& job);

 private:
  // Position of a job in the order of the queue.
  struct Place {
    Instant submitted;
    JobId job;
    auto operator<=>(const Place&) const = default;
  };
  // What a job needs; kNoJob for a hole.
  struct Need {
    Duration estimate;
    ProcessCount processes;
  };
  static constexpr Need kNoJob{Duration::max(), std::numeric_limits<ProcessCount>::max()};

  // Lower bounds of what the jobs of some slots need. After a removal they may be too low until a search computes them
  // again.
  class Least {
   public:
    Least() { estimates_.fill(Duration::max()); }
    void add(const Need& need);
    void add(const Least& other);
    /// Whether one of them may be wanted; false is certain.
    [[nodiscard]] bool may_be(const Wanted& wanted) const;

   private:
    static constexpr std::size_t kSizes = 12;
    [[nodiscard]] static std::size_t size_of(ProcessCount processes);

    ProcessCount processes_ = std::numeric_limits<ProcessCount>::max();
    std::array<Duration, kSizes> estimates_;  // of jobs of at most 1, 2, 4, ... processes; the last one of all
  };

  void close_holes();
  void index_all() const;
  [[nodiscard]] std::size_t find_among(std::size_t from, std::size_t to, const Wanted& wanted) const;
  [[nodiscard]] std::size_t find_in(std::size_t node, std::size_t from, const Wanted& wanted) const;
  [[nodiscard]] std::size_t find_below(std::size_t level, std::size_t node, std::size_t from,
                                       const Wanted& wanted) const;

  std::vector<const Job*> slots_;  // in order; nullptr: a hole
  std::vector<Place> order_;       // by slot, for the search; kept for holes, as their jobs may no longer exist
  std::vector<Need> needs_;        // by slot
  // Bounds by 16 slots, by 256, ...: the last level has one stretch of all indexed slots. Only the first indexed_ slots
  // are indexed: a short queue is scanned, and indexed only when it has become long.
  mutable std::vector<std::vector<Least>> levels_ = std::vector<std::vector<Least>>(1);
  mutable std::size_t indexed_ = 0;
  std::size_t first_ = 0;  // slots before it are holes
  std::size_t size_ = 0;
};

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
  bool gone_in_plan = false;  ///< its estimate is over, so its cores count as free although it still runs
  double cpu_use = 1;         ///< declared, or measured so far in a real run
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

/// What made this pass necessary.
enum class TriggerKind : std::uint8_t { kSubmit, kFinish, kEstimateReached, kWake, kChange };
struct Trigger {
  TriggerKind kind;
  const Job* job = nullptr;  ///< nullptr for kWake; valid during the pass
};

struct ClusterView {
  Instant now;
  const Machine& machine;
  const FreeCores& free;  ///< by plan: cores of jobs that are gone in plan included
  const WaitingQueue& waiting;
  const RunningSet& running;
  std::span<const Trigger> triggers;   ///< since the last pass; one under PassRule::kEvent
  const DeclaredRate* rate = nullptr;  ///< of the runtime model; nullptr: there is none

  /// Declared progress per second of `job` on `allocation`, alone there; 1 / m where there is no runtime model.
  [[nodiscard]] double rate_of(const Job& job, const Allocation& allocation) const {
    return rate != nullptr ? (*rate)(job, allocation, 0) : 1.0 / allocation.mpl;
  }
};

}  // namespace replay
