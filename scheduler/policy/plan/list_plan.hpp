// A whole plan of the waiting jobs, kept from event to event: in one order, each job gets the earliest hole that the
// running jobs and those before it leave. The plan of the first jobs stays while nothing before them changes; behind
// them all are planned again, but not before they are asked for:
// - A job that comes in, or is started, takes cores from the jobs behind it in the order. Each planned job knows how
//   many cores are left beside it at least, so the first one that may have to move is found without a search.
// - Marks, profiles of the first n jobs, are where planning begins again.
// - While nothing has become free for a job, it has no hole before its last planned start, so that its search begins
//   there; and after that no hole that ends before the time that has become free.
// - exceeds() plans as few jobs as are needed to tell that all together cost more than some limit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/plan/cost_bound.hpp"
#include "scheduler/policy/plan/job_order.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class ListPlan {
 public:
  struct Planned {
    const Job* job;
    Duration length;  ///< its estimate
    CoreCount cores;
    CoreCount weight;        ///< of its start in the cost of the plan
    Instant start;           ///< kNever: not planned yet
    Instant freed = kNever;  ///< what jobs before it left since it was planned begins here
    CoreCount left = 0;      ///< so many cores at least are free beside it, for the jobs behind it

    [[nodiscard]] bool overlaps(Instant from, Instant to) const { return start < to && from < start + length; }
  };

  /// Wide enough for microseconds x processors of any queue.
  __extension__ using Cost = __int128;
  /// What a job's start weighs in the cost of the plan, the sum of weight x start. REQUIRES: positive.
  using Weight = CoreCount (*)(const Job&);

  ListPlan(JobOrder order, Weight weight) : order_(order), weight_(weight) {}

  /// Takes in submissions, cancellations and, with `has_freed`, that running jobs leave more time than in the last plan.
  /// O(queue), or O(queue log queue) where the view has another queue than expected.
  void follow(const ClusterView& view, bool has_freed);
  /// `job` has been started at `now`, and is one of the running jobs in the next plan. O(queue).
  void note_start(const Job& job, Instant now);

  /// Makes the plan. A search in the profile for each job that is not planned.
  std::span<const Planned> make(const Availability& running, Instant now);
  /// Whether all jobs are planned, as make() would plan them.
  [[nodiscard]] bool is_made() const { return !has_freed_ && made_ == jobs_.size(); }
  /// The jobs in order; with the starts of the last plan, if it is not made.
  [[nodiscard]] std::span<const Planned> jobs() const { return jobs_; }

  /// Of the plan. REQUIRES: is_made().
  [[nodiscard]] Cost cost() const { return cost_; }
  /// Whether the plan costs more than `limit`. Makes as much of it as that takes; all of it if it does not cost more.
  bool exceeds(Cost limit, const Availability& running, Instant now);

 private:
  struct Mark {
    std::size_t jobs = 0;  // so many of the first ones are in the profile
    Availability profile{0, Instant::min()};
  };

  void pass_time(Instant now);
  void insert(const Job& job, Instant now);
  Instant place_among_made(std::size_t at, Instant now);
  void cancel(const Job& job);
  void forget_from(std::size_t first);
  void make_room(std::size_t first, Instant from, Instant to, CoreCount cores);
  void make_first(std::size_t count, const Availability& running, Instant now);
  void reach_tip(const Availability& running, Instant now);
  void add_mark(std::size_t jobs, const Availability& profile);
  void forget_running();
  [[nodiscard]] bool bound_exceeds(Cost limit, Instant now);
  [[nodiscard]] std::vector<Planned>::iterator find(const Job& job);
  [[nodiscard]] std::vector<Planned>::iterator iterator_at(std::size_t index) {
    return jobs_.begin() + static_cast<std::ptrdiff_t>(index);
  }
  [[nodiscard]] Planned unplanned(const Job& job) const {
    return {&job, job.estimate, cores_needed(job), weight_(job), kNever};
  }
  [[nodiscard]] static Cost cost_of(const Planned& planned, Instant start) {
    return Cost{planned.weight} * start.time_since_epoch().count();
  }

  JobOrder order_;
  Weight weight_;
  std::vector<Planned> jobs_;     // in order
  bool has_freed_ = false;        // for all jobs
  std::size_t made_ = 0;          // so many of the first jobs are planned
  Instant earliest_ = kNever;     // no start of these is before
  Cost cost_ = 0;                 // of these
  std::optional<Cost> at_least_;  // what the whole plan costs, while that is known
  std::size_t enough_ = 0;        // so many planned jobs were enough for exceeds()

  std::vector<Mark> marks_;  // the first marks_used_ are valid, ascending; the first one has the running jobs only
  std::size_t marks_used_ = 0;
  Mark tip_;  // the last profile made
  bool tip_is_valid_ = false;
  Mark scratch_;
  CostBound rest_;
};

}  // namespace replay
