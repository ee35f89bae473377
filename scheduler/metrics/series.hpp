// The load of the machine over time: step functions that change with the records of the event log, and their integrals.
// An instant counts with its last state: a change that is reverted at the same instant has no duration.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "scheduler/log/record.hpp"
#include "scheduler/model/job_map.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// Wide enough for a million cores over centuries of microseconds.
__extension__ using Wide = __int128;

/// The state from `at` until the next point.
struct Point {
  Instant at{};
  std::int64_t waiting_processors = 0;  ///< sum of the sizes of the queued jobs
  std::int64_t processes = 0;           ///< of the running jobs, suspended ones left out
  std::int32_t queued = 0;              ///< jobs submitted and not launched yet
  std::int32_t running = 0;             ///< jobs on cores
  std::int32_t suspended = 0;
  std::int32_t busy_cores = 0;  ///< with jobs on them, a core that several share once

  [[nodiscard]] bool same_state(const Point& other) const {
    return waiting_processors == other.waiting_processors && processes == other.processes && queued == other.queued &&
           running == other.running && suspended == other.suspended && busy_cores == other.busy_cores;
  }
};

/// Integrals over a span of time, in microseconds times what is counted.
struct Integrals {
  Wide time = 0;
  Wide busy_cores = 0;
  Wide processes = 0;
  Wide queued = 0;
  Wide free_cores_while_queued = 0;  ///< numerator of formula (2) of the FCFS-malleable paper
  Wide high_load_time = 0;           ///< while the queue has at least `high_load_queue` jobs
  Wide high_load_busy_cores = 0;
};

struct SeriesOptions {
  bool keep_points = true;   ///< off: total() only, in memory that does not grow with the run
  int high_load_queue = 12;  ///< N_H of the G-LOMARC-TS paper, section 6.1
};

class Series final : public log::Sink {
 public:
  explicit Series(SeriesOptions options = {}) : options_(options) {}

  /// Reads the size of the machine. Throws InputError if the header has none.
  void header(const log::Header& header) override;
  /// Throws InputError if a job shares a core that the machine does not have.
  void record(const log::Record& record) override;
  [[nodiscard]] log::Kinds kinds() const override;

  [[nodiscard]] CoreCount cores() const { return cores_; }
  [[nodiscard]] const SeriesOptions& options() const { return options_; }
  /// The first submission and the last change after it: as a rule the last job's end. Both are zero in an empty log.
  [[nodiscard]] Instant begin() const { return begin_; }
  [[nodiscard]] Instant end() const { return points_.empty() ? begin_ : points_.back().at; }
  [[nodiscard]] std::int32_t longest_queue() const { return longest_queue_; }

  /// From begin() to end().
  [[nodiscard]] const Integrals& total() const { return total_; }
  /// From `from` to `to`, cut to begin() and end(). REQUIRES: keep_points. O(points).
  [[nodiscard]] Integrals between(Instant from, Instant to) const;
  /// One for each instant at which something changed, in time order, the last state of the log last. Only that last one
  /// unless keep_points.
  [[nodiscard]] std::span<const Point> points() const { return points_; }

 private:
  enum class Phase : std::uint8_t { kQueued, kRunning, kSuspended };
  struct JobState {
    ProcessCount processes = 0;
    CoreCount cores = 0;
    Phase phase = Phase::kQueued;
    bool shareable = false;  ///< its cores are in shared_
  };
  struct OnRecord;

  void move_to(Instant at);
  void enter(Point& now, JobId id, const JobState& job);
  void leave(Point& now, JobId id, const JobState& job);
  void share(JobId id, const Allocation& allocation);
  [[nodiscard]] CoreCount cores_entered(JobId id);
  [[nodiscard]] CoreCount cores_left(JobId id);
  void add(Integrals& sum, const Point& state, Duration lasting) const;

  SeriesOptions options_;
  CoreCount cores_ = 0;
  Instant begin_{};
  std::int32_t longest_queue_ = 0;
  Integrals total_;
  JobMap<JobState> jobs_;                        // that have not ended
  std::unordered_map<JobId, CoreLoads> shared_;  // cores of jobs that may share them
  std::vector<std::int32_t> sharers_;            // by core: how many such jobs are on it
  std::vector<Point> points_;                    // the last one is the present state
};

}  // namespace replay::metrics
