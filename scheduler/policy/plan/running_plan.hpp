// The free processors over time that running jobs leave by their estimates, kept in step with a view from pass to pass. What
// cannot be followed step by step (an estimate that grew, a job that was resized, killed, or started by somebody else) makes
// it start anew from the view.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class RunningPlan {
 public:
  /// What follow() had to do.
  struct Change {
    bool rebuilt = false;                  ///< profile() is new: it has the running jobs and nothing else
    Instant freed_until = Instant::min();  ///< where the time ends that has become free; not after now: none has
    /// A job has ended, or left the queue. One that is killed ends once, with the decision: its cores are free in plan then.
    bool ended = false;
  };

  /// What a running job is in the plan at the very instant at which its estimate is used up.
  enum class AtEstimate : std::uint8_t {
    kRuns,     ///< it has been decided that it goes on: it ends in the next tick
    kHasEnded  ///< that is decided next, at this instant
  };

  /// Brings the profile up to date. What a policy has reserved in it for waiting jobs stays, unless it is rebuilt.
  /// O(ends since the last pass), or O(running) if it is rebuilt.
  Change follow(const ClusterView& view, AtEstimate at_estimate = AtEstimate::kRuns);

  /// The policy starts `job` now, and has reserved its cores until now + estimate in profile().
  void note_start(const Job& job, Instant now);
  /// Whether `job` ran at the last follow().
  [[nodiscard]] bool knows(const RunningJob& job) const { return held_.find(job.job->id) != nullptr; }
  /// For Policy::more_time(), after follow() at the same instant: `job`, which it knows, holds nothing from `now` on. Whether that frees
  /// time.
  bool lift_out(const RunningJob& job, Instant now);
  /// After lift_out(): the controller will let it go on for `more` after its estimated end, at full speed.
  void put_back_for_longer(const RunningJob& job, Instant now, Duration more);

  /// When the running jobs are to end, in no order; some may be over.
  [[nodiscard]] std::vector<Instant> ends() const;

  [[nodiscard]] Availability& profile() { return profile_; }
  [[nodiscard]] const Availability& profile() const { return profile_; }

 private:
  struct Held {
    Instant until{};
    CoreCount cores = 0;
    bool is_killed = false;  // its end is still to come
  };
  void note_finish(const Job& job, Instant now, Change& change);
  void note_kill(const Job& job, const ClusterView& view, Change& change);
  void rebuild(const ClusterView& view);

  Availability profile_{0, Instant::min()};
  JobMap<Held> held_;
  std::uint64_t disturbances_seen_ = 0;
};

/// The profile of the running jobs of a view, made from scratch: by estimates; a job that is past its own holds its cores for
/// one more microsecond, as it ends in the next tick. O(running).
[[nodiscard]] Availability availability_of_running(const ClusterView& view);

/// Reserves the earliest hole for `job` from `from` on, and says where it is.
Instant place(Availability& plan, const Job& job, Instant from);
/// Gives it back. REQUIRES: reserved from `start` on.
void take_back(Availability& plan, const Job& job, Instant start);

/// Policy::free_until() and Policy::may_start_now() of a policy that keeps to `plan`: of the running jobs and of all that
/// wait and must not be delayed; for the second without `job` itself.
[[nodiscard]] CoreCount free_by_plan(const ClusterView& view, const Availability& plan, Instant until);
[[nodiscard]] bool may_start_by_plan(const ClusterView& view, const Availability& plan, const Job& job);

}  // namespace replay
