// What a real run measured of its jobs, in the simulator's words: when each really came, and how much work it did. With
// these in place of the trace's the simulator has no run time left to get wrong, so that what remains between it and the
// real run is the policy's timing; and what changes in the simulator's own figures is the error of the runtime model.
//   never resized  work = the time from its cores being given to it to its processes being gone
//   resized        the integral of the model's rate over its own allocations, each from the instant at which its ranks
//                  were there: the work with which the model, given the same allocations, ends at the same instant
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "scheduler/log/record.hpp"
#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

/// s(m) of the runtime model for a job of the workload: run time at that multiprogramming level over run time expanded and
/// alone; >= 1.
using SlowdownAt = std::function<double(JobId, int mpl)>;

struct MeasuredJob {
  Instant submitted{};
  std::optional<Duration> work{};  ///< expanded, alone on its cores; nothing: it did not run to its own end
};

class MeasuredWork final : public log::Sink {
 public:
  explicit MeasuredWork(SlowdownAt slowdown) : slowdown_(std::move(slowdown)) {}

  void header(const log::Header&) override {}
  /// Throws InputError when a record cannot be true (a job that ends and was never submitted).
  void record(const log::Record& record) override;

  /// Null if there was no such job.
  [[nodiscard]] const MeasuredJob* find(JobId job) const;
  /// Jobs were on cores that they might share with others, whose demand nobody measured: no work can be told.
  [[nodiscard]] bool has_shared_cores() const { return has_shared_cores_; }

 private:
  struct OnRecord;
  struct Followed {
    MeasuredJob measured;
    JobId id{};
    int mpl = 1;
    bool on_cores = false;
    Instant since{};
    Duration full{};       // at rate 1
    double shared_us = 0;  // work done at other rates
  };
  Followed& job(JobId id);
  void account(Followed& job, Instant now) const;

  SlowdownAt slowdown_;
  std::unordered_map<std::int64_t, Followed> jobs_;
  bool has_shared_cores_ = false;
};

}  // namespace replay::compare
