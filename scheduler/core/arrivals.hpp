// When jobs come: at their submit times, or, in a closed loop, some think time after the job they follow has ended (SWF
// fields 17 and 18). Both bodies ask it.
#pragma once

#include <deque>
#include <queue>
#include <unordered_map>
#include <vector>

#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

class Arrivals {
 public:
  /// `workload` must outlive this; its jobs come in submission order.
  explicit Arrivals(const Workload& workload);

  /// kNever while all that are left follow a job that has not ended.
  [[nodiscard]] Instant next() const;
  /// The next one that is due at `now`; nullptr if none is.
  const TracedJob* take(Instant now);
  /// Releases the jobs that follow `ended`.
  void on_end(JobId ended, Instant now);
  [[nodiscard]] bool done() const { return left_ == 0; }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  struct Released {
    Instant at;
    std::size_t index;
    auto operator<=>(const Released&) const = default;
  };
  void skip_followers();

  const Workload& workload_;
  std::size_t next_ = 0;  // first job not yet taken that follows nobody
  std::size_t left_;
  std::unordered_map<JobId, std::vector<std::size_t>> followers_;
  std::priority_queue<Released, std::vector<Released>, std::greater<>> released_;
  std::deque<TracedJob> resubmitted_;  // followers with the submit time that came out
};

}  // namespace replay
