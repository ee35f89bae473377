// The size that SCOJO-P wants for the head of the queue: a factor on the optimum sizes of all jobs, searched so that the
// load predicted for the time in which the head would run comes near the ideal one.
// Source: SCOJO-P paper, section 4.2 and Figure 2.
#pragma once

#include <span>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/policy/moldable/forecast.hpp"
#include "scheduler/policy/plan/class_queue.hpp"

namespace replay {

/// A job that runs: its cores, and how long it still has them.
struct Occupied {
  CoreCount cores;
  Duration left;
};

/// A job that waits.
struct WaitingShare {
  const ClassedJob* job;
  ProcessCount guaranteed;  ///< 0: nothing is
  // The size that was asked for last, and the time there: from trial to trial it is mostly the same.
  mutable ProcessCount size = 0;
  mutable Duration time{};

  /// The size for `modifier`, the guaranteed one at least. REQUIRES: machine is that of the job's optimum.
  [[nodiscard]] ProcessCount size_at(double modifier, CoreCount machine) const;
  [[nodiscard]] Duration time_at(ProcessCount processes) const;
};

struct LoadAim {
  double ideal;    ///< share of the machine
  double delta;    ///< the search ends when the load is that near
  int most_worse;  ///< or after so many trials in a row that are not nearer
};

/// What is known when a size is chosen.
struct LoadView {
  CoreCount machine;
  std::span<const Occupied> running;
  std::span<const WaitingShare> waiting;  ///< all but the jobs that were started, the head first
  const Forecast* forecast;               ///< nullptr: nothing is expected to come
  Duration since_midnight;                ///< of now
};

struct HeadSize {
  double modifier = 1;
  double load = 0;  ///< at that modifier; if `time` is not 0
  Duration time{};  ///< that the head would run at that modifier
};

/// The predicted load with `modifier`: the work of the head, of running and waiting jobs and of those to come, within the
/// time that the head would run, over what the machine can do in it. REQUIRES: the head runs longer than 0. O(running + waiting).
[[nodiscard]] HeadSize load_with(double modifier, const LoadView& view);
/// The modifier whose load is nearest to the ideal, by Figure 2: each trial multiplies it by ideal over load. At most 50
/// trials. 1 for a head that takes no time.
[[nodiscard]] HeadSize size_of_head(const LoadView& view, const LoadAim& aim);

}  // namespace replay
