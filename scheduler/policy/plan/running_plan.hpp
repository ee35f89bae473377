// The profile of processors that running jobs leave free by their estimates, updated from pass to pass. It is rebuilt
// from the view after a change that cannot be followed step by step: an estimate that grew, a job that was resized, or
// not started by this policy, a node that was closed or opened.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/policy/plan/availability.hpp"
#include "scheduler/policy/plan/releases.hpp"
#include "scheduler/policy/view/view.hpp"

namespace replay {

class RunningPlan {
 public:
  /// What follow() had to do.
  struct Change {
    bool rebuilt = false;                  ///< profile() is new: it has the running jobs and nothing else
    Instant freed_until = Instant::min();  ///< end of the time that has become free; not after now: no time has
    /// A job has ended, or left the queue. A killed job counts once, at the decision to kill it: its cores are free in
    /// plan from then on.
    bool ended = false;
  };

  /// How a running job counts in the plan at the instant at which its estimate is used up.
  enum class AtEstimate : std::uint8_t {
    kRuns,     ///< the decision was to let it go on: it ends in the next tick
    kHasEnded  ///< the decision comes next, at this instant
  };

  /// Brings the profile up to date. What a policy has reserved in it for waiting jobs stays, unless it is rebuilt.
  /// O(ends since the last pass), or O(running) if it is rebuilt.
  Change follow(const ClusterView& view, AtEstimate at_estimate = AtEstimate::kRuns);

  /// The policy starts `job` now, and has reserved its cores until now + estimate in profile(): at the submitted size, or
  /// at another one.
  void note_start(const Job& job, Instant now) { note_start(job, now, cores_needed(job), job.estimate); }
  void note_start(const Job& job, Instant now, CoreCount cores, Duration estimate);
  /// Whether `job` ran at the last follow().
  [[nodiscard]] bool knows(const RunningJob& job) const { return held_.find(job.job->id) != nullptr; }
  /// For Policy::more_time(), after follow() at the same instant: removes `job` from the profile from `now` on. Returns
  /// whether that frees time. REQUIRES: knows(job).
  bool lift_out(const RunningJob& job, Instant now);
  /// After lift_out(): the job goes on until `more` after its estimated end, at full speed.
  void put_back_for_longer(const RunningJob& job, Instant now, Duration more);

  [[nodiscard]] Availability& profile() { return profile_; }
  [[nodiscard]] const Availability& profile() const { return profile_; }

 private:
  struct Held {
    Instant until{};
    CoreCount cores = 0;     // on nodes that are open
    bool is_killed = false;  // its end is still to come
  };
  void note_finish(const Job& job, Instant now, Change& change);
  void note_kill(const Job& job, const ClusterView& view, Change& change);
  void free_from(Instant now, JobId job, Held& held, Change& change);
  /// From `now` on.
  void take_out(Instant now, JobId job, const Held& held);
  void rebuild(const ClusterView& view);

  Availability profile_{0, Instant::min()};
  JobMap<Held> held_;
  std::uint64_t disturbances_seen_ = 0;
  std::vector<ClosedNode> closed_seen_;
  std::unordered_map<JobId, std::vector<Release>> on_closed_;  // what jobs have on closed nodes from when these are up
};

/// The profile of the running jobs of a view, built from scratch by their estimates. A job past its estimate holds its
/// cores for one more microsecond, as it ends in the next tick. O(running).
[[nodiscard]] Availability availability_of_running(const ClusterView& view);

/// Reserves the earliest hole for `job` from `from` on, and returns its start.
Instant place(Availability& plan, const Job& job, Instant from);
/// Releases that reservation. REQUIRES: reserved from `start` on.
void take_back(Availability& plan, const Job& job, Instant start);

}  // namespace replay
