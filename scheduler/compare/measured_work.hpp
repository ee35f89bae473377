// Measures the jobs of a real run in the simulator's terms: their actual submit instants, and how much work they did.
// With these in place of the trace's values the simulator's run times are exact, so the remaining difference to the
// real run is the policy's timing; and the change in the simulator's own figures is the error of the runtime model.
//   never resized  work = the time from getting its cores to the exit of its processes
//   resized        the integral of the model's rate over its own allocations, each from the instant at which its ranks
//                  were there: the work with which the model, given the same allocations, ends at the same instant
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "scheduler/history/observer.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

/// Of the runtime model for a job of the workload: run time on that allocation over run time expanded, alone on it.
using SlowdownAt = std::function<double(JobId, const Allocation&)>;

struct MeasuredJob {
  Instant submitted{};
  ProcessCount processes = 0;      ///< those it was started with
  std::optional<Duration> work{};  ///< with these, expanded, alone on its cores; nothing: it did not run to its own end
};

class MeasuredWork final : public history::Observer {
 public:
  explicit MeasuredWork(SlowdownAt slowdown) : slowdown_(std::move(slowdown)) {}

  void on_submit(Instant at, const history::JobState& job) override;
  void on_change(Instant at, const history::Before& before, const history::JobState& job) override;
  void on_end(Instant at, const history::JobState& job, const JobEnd& end) override;

  /// Null if there was no such job.
  [[nodiscard]] const MeasuredJob* find(JobId job) const;
  /// Jobs were on shareable cores. The demand of their neighbours was not measured, so their work is unknown.
  [[nodiscard]] bool has_shared_cores() const { return has_shared_cores_; }

 private:
  struct Followed {
    MeasuredJob measured;
    Instant since{};
    Duration full{};       // at rate 1
    double shared_us = 0;  // work done at other rates
  };
  void account(JobId id, const Allocation& on, Instant now);

  SlowdownAt slowdown_;
  std::unordered_map<JobId, Followed> jobs_;
  bool has_shared_cores_ = false;
};

}  // namespace replay::compare
