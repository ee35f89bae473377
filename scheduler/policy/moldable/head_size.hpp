// The size that SCOJO-P wants for the head of the queue: a factor on the optimum sizes of all jobs, searched so that the
// load predicted for the time in which the head would run comes near the ideal one.
// Source: SCOJO-P paper, section 4.2 and Figure 2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/moldable/forecast.hpp"
#include "scheduler/policy/plan/class_queue.hpp"
#include "scheduler/policy/plan/shadow.hpp"

namespace replay {

/// A job that waits: the sizes that it is asked for again and again, at each trial of each pass, and its times there.
class WaitingShare {
 public:
  WaitingShare() = default;
  /// The optimum of `job` is for `machine`.
  WaitingShare(const ClassedJob& job, CoreCount machine, ProcessCount guaranteed = 0);

  [[nodiscard]] const Job& job() const { return *job_; }
  [[nodiscard]] ProcessCount optimum() const { return optimum_; }
  [[nodiscard]] bool is_of(const ClassedJob& job, CoreCount machine) const {
    return job_ == job.job && machine_ == machine;
  }

  /// The size nearest to `modifier` times the optimum, and the same but not below the guarantee.
  [[nodiscard]] ProcessCount resized(double modifier) const;
  [[nodiscard]] ProcessCount size_at(double modifier) const { return std::max(guaranteed, resized(modifier)); }
  /// Its estimate there.
  [[nodiscard]] Duration time_at(ProcessCount size) const {
    KnownTime& known = known_[static_cast<std::size_t>(size) % known_.size()];
    if (known.size != size) known = {size, estimate_at(*job_, size)};
    return known.time;
  }

  ProcessCount guaranteed = 0;  ///< 0: nothing is

 private:
  struct KnownTime {
    ProcessCount size = 0;
    Duration time{};
  };

  const Job* job_ = nullptr;
  CoreCount machine_ = 0;
  ProcessCount optimum_ = 1;
  ProcessCount least_ = 1, most_ = 1;  // on the machine
  bool is_list_ = false;               // not all sizes between are offered
  mutable std::array<KnownTime, 4> known_{};
};

struct LoadAim {
  double ideal;    ///< share of the machine
  double delta;    ///< the search ends when the load is that near
  int most_worse;  ///< or after so many trials in a row that are not nearer
};

/// What is known when a size is chosen.
struct LoadView {
  CoreCount machine;
  Instant now;
  std::span<const Release> running;              ///< by their ends, ascending
  CoreCount running_cores;                       ///< of all of them
  std::span<const WaitingShare* const> waiting;  ///< all but the jobs that were started, the head first
  const Forecast* forecast;                      ///< nullptr: nothing is expected to come
  Duration since_midnight;                       ///< of now
};

struct HeadSize {
  double modifier = 1;
  double load = 0;  ///< at that modifier; if `time` is not 0
  Duration time{};  ///< that the head would run at that modifier
};

/// The predicted load with `modifier`: the work of the head, of running and waiting jobs and of those to come, within the
/// time that the head would run, over what the machine can do in it. REQUIRES: the head runs longer than 0. O(running jobs
/// that end within it + waiting).
[[nodiscard]] HeadSize load_with(double modifier, const LoadView& view);
/// The modifier whose load is nearest to the ideal, by Figure 2: each trial multiplies it by ideal over load. At most 50
/// trials. 1 for a head that takes no time.
[[nodiscard]] HeadSize size_of_head(const LoadView& view, const LoadAim& aim);

}  // namespace replay
