// Waiting and running jobs at an instant of a schedule, as a rule sees them: running jobs end by their estimates.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/audit/schedule.hpp"
#include "scheduler/model/units.hpp"

namespace replay::audit {

/// A running job that holds processors, by the end of its estimate.
using Holding = std::pair<Instant, Index>;

/// `jobs` are in the order of arrival, so that an Index orders the queue.
class State {
 public:
  State(const std::vector<Job>& jobs, CoreCount machine_size);

  [[nodiscard]] const Job& job(Index index) const { return jobs_[index]; }
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] CoreCount machine_size() const { return machine_size_; }
  [[nodiscard]] Instant now() const { return now_; }

  /// Below 0 where the schedule has put more on the machine than it has.
  [[nodiscard]] CoreCount free() const { return free_; }
  [[nodiscard]] const std::set<Index>& waiting() const { return waiting_; }
  /// By estimated end. One that runs on beyond its estimate stays, with an end in the past.
  [[nodiscard]] const std::set<Holding>& holding() const { return holding_; }
  [[nodiscard]] bool is_running(Index index) const { return is_running_[index] != 0; }
  [[nodiscard]] Instant estimated_end(Index index) const { return estimated_ends_[index]; }

  /// Releases the processors of jobs that end now and have used up their estimate, before their end is processed.
  void advance_to(Instant now);
  [[nodiscard]] bool has_overrun() const;

  void wait(Index index) { waiting_.insert(index); }
  void leave(Index index) { waiting_.erase(index); }
  void start(Index index);
  /// Back into the queue.
  void undo_start(Index index);
  void end(Index index);
  /// Its estimate counts from `started`, which may still be to come.
  void set_started(Index index, Instant started);

 private:
  void hold(Index index, Instant estimated_end);
  void release(Index index);

  const std::vector<Job>& jobs_;
  CoreCount machine_size_;
  CoreCount free_;
  Instant now_ = Instant::min();
  std::set<Index> waiting_;
  std::set<Holding> holding_;
  std::vector<Instant> estimated_ends_;
  std::vector<std::uint8_t> is_running_;
};

}  // namespace replay::audit
