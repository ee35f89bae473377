// The arrivals of a run, for both bodies: jobs come at their submit times or, in a closed loop, some think time after
// the job they follow has ended (SWF fields 17 and 18); users cancel some of them.
#pragma once

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "scheduler/model/job_map.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/model/workload.hpp"

namespace replay {

class Arrivals {
 public:
  /// `workload` must outlive this; its jobs come in submission order.
  explicit Arrivals(const Workload& workload);

  /// When the next job comes; kNever while all that are left follow a job that has not ended.
  [[nodiscard]] Instant next() const { return released_.empty() ? next_at_ : std::min(next_at_, released_.top().at); }
  /// Takes the next job that is due at `now`; nullptr if none is. It stays where it is until forget_ended() after its
  /// end.
  const TracedJob* take(Instant now);
  /// When the next job that was taken is cancelled; kNever if none is.
  [[nodiscard]] Instant next_cancel() const { return taken_back_.empty() ? kNever : taken_back_.top().at; }
  /// Takes the next cancellation, due at `now`, of a job that has not ended; nothing if there is none.
  std::optional<JobId> take_cancel(Instant now) { return next_cancel() <= now ? find_cancel(now) : std::nullopt; }
  /// REQUIRES: it was taken, and is not forgotten.
  [[nodiscard]] const TracedJob& job(JobId job) { return jobs_.at(job); }
  /// Releases the jobs that follow `ended`.
  void on_end(JobId ended, Instant now);
  /// Reuses the memory of the jobs that have ended so far. REQUIRES: no caller needs them any more.
  void forget_ended();
  [[nodiscard]] bool done() const { return left_ == 0; }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  struct Released {
    Instant at;
    std::size_t index;
    auto operator<=>(const Released&) const = default;
  };
  struct TakenBack {
    Instant at;
    JobId job;
    auto operator<=>(const TakenBack&) const = default;
  };
  std::optional<JobId> find_cancel(Instant now);
  void skip_followers();
  void note_cancel(const TracedJob& job);
  TracedJob& add(std::size_t index);

  const Workload& workload_;
  bool has_followers_;
  std::size_t next_ = 0;  // first job not yet taken that follows no other
  Instant next_at_{};     // when it comes; kNever if there is none
  std::size_t left_;
  std::unordered_map<JobId, std::vector<std::size_t>> followers_;
  std::priority_queue<Released, std::vector<Released>, std::greater<>> released_;
  std::priority_queue<TakenBack, std::vector<TakenBack>, std::greater<>> taken_back_;  // some may have ended
  JobMap<TracedJob> jobs_;                                                             // taken and not forgotten
  std::vector<JobId> ended_;                                                           // of jobs_
};

}  // namespace replay
