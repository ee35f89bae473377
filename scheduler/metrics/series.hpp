// The load of the machine over time: step functions that change with the records of the event log, and their integrals.
// An instant counts with its last state: a change that is reverted at the same instant has no duration.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// Wide enough for a million cores over centuries of microseconds.
__extension__ using Wide = __int128;

/// The load from `at` until the next point.
struct Point : history::Load {
  Instant at{};
};

/// Integrals over a span of time, in microseconds times what is counted.
struct Integrals {
  Wide time = 0;
  Wide busy_cores = 0;
  Wide processes = 0;
  Wide queued = 0;
  Wide closed_cores = 0;
  Wide absent_cores = 0;
  Wide free_cores_while_queued = 0;  ///< those that are there; numerator of formula (2) of the FCFS-malleable paper
  Wide high_load_time = 0;           ///< while the queue has at least `high_load_queue` jobs
  Wide high_load_busy_cores = 0;
};

struct SeriesOptions {
  bool keep_points = true;   ///< off: total() only, in memory that does not grow with the run
  int high_load_queue = 12;  ///< N_H of the G-LOMARC-TS paper, section 6.1
};

class Series final : public history::Observer {
 public:
  explicit Series(SeriesOptions options = {}) : options_(options) {}

  void on_begin(const log::Header& header, const Machine& machine) override {
    cores_ = history::stated_cores(header, machine);
  }
  void on_load(Instant at, const history::Load& load) override;
  void on_record(const log::Record& /*record*/, const history::JobState* /*job*/) override { has_node_events_ = true; }
  [[nodiscard]] log::Kinds records() const override { return log::kinds<NodeChange>(); }

  /// That figures are shares of: history::stated_cores().
  [[nodiscard]] CoreCount cores() const { return cores_; }
  /// Of these, without a job and of nodes that are up.
  [[nodiscard]] CoreCount free_cores(const history::Load& load) const {
    return std::max<CoreCount>(0, cores_ - load.busy_cores - load.absent_cores);
  }
  [[nodiscard]] const SeriesOptions& options() const { return options_; }
  /// The first submission and the last change after it: as a rule the last job's end. Both are zero in an empty log.
  [[nodiscard]] Instant begin() const { return begin_; }
  [[nodiscard]] Instant end() const { return points_.empty() ? begin_ : points_.back().at; }
  /// Whether the log tells of nodes.
  [[nodiscard]] bool has_node_events() const { return has_node_events_; }
  [[nodiscard]] std::int32_t longest_queue() const { return longest_queue_; }

  /// From begin() to end().
  [[nodiscard]] const Integrals& total() const { return total_; }
  /// From `from` to `to`, cut to begin() and end(). REQUIRES: keep_points. O(points).
  [[nodiscard]] Integrals between(Instant from, Instant to) const;
  /// One for each instant at which something changed, in time order, the last state of the log last. Only that last one
  /// unless keep_points.
  [[nodiscard]] std::span<const Point> points() const { return points_; }

 private:
  void add(Integrals& sum, const Point& state, Duration lasting) const;

  SeriesOptions options_;
  CoreCount cores_ = 0;
  Instant begin_{};
  std::int32_t longest_queue_ = 0;
  bool has_node_events_ = false;
  Integrals total_;
  std::vector<Point> points_;  // the last one is the present state
};

}  // namespace replay::metrics
