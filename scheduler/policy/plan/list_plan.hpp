// A whole plan of the waiting jobs, made again and again: in one order, each job gets the earliest hole that the running
// jobs and those before it leave. What the last plan tells is used: while nothing has become free for a job, it has no
// hole before its last planned start, so that its search begins there; and after that no hole that ends before the time
// that has become free. A plan still places every job: one event can move each of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class ListPlan {
 public:
  struct Planned {
    const Job* job;
    Instant start;           ///< kNever: not planned yet
    Instant freed = kNever;  ///< what jobs before it left since it was planned begins here
  };

  explicit ListPlan(JobOrder order) : order_(order) {}

  /// Takes in submissions, cancellations and, with `has_freed`, that running jobs leave more time than in the last plan.
  /// O(queue) in memory moved, or O(queue log queue) where the view has another queue than expected.
  void follow(const ClusterView& view, bool has_freed);
  /// `job` has been started at `now`, and is one of the running jobs in the next plan. O(queue) in memory moved.
  void note_start(const Job& job, Instant now) { remove(job, now); }

  /// Makes the plan. O(queue) searches in the profile, or none while all goes as planned.
  std::span<const Planned> make(const Availability& running, Instant now);

 private:
  void insert(const Job& job);
  void remove(const Job& job, Instant begins);
  [[nodiscard]] std::vector<Planned>::iterator find(const Job& job);

  JobOrder order_;
  std::vector<Planned> jobs_;  // in order
  bool has_freed_ = false;     // for all jobs
  bool is_made_ = false;       // since then all jobs have started as planned, and no other one has
  Availability profile_{0, Instant::min()};
};

}  // namespace replay
