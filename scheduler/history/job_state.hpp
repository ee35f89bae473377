// What the event log says of one job, and of all of them together, at one instant: what has happened, not what was decided.
// A job waits until its cores are given to it (`launch`), and a resize counts when it is done.
#pragma once

#include <cstdint>

#include "scheduler/model/allocation.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::history {

enum class Phase : std::uint8_t { kWaiting, kRunning, kSuspended };

/// A job that was submitted and has not ended.
struct JobState {
  JobId id{};
  std::uint32_t place = 0;     ///< 0, 1, 2, ... in the order of submission
  Instant submitted{};         ///< when it came into the queue; later than Job::submitted where it follows another job
  Instant launched = kNever;   ///< kNever: it waits; while its requeue is told, of the run that is over
  Duration estimate{};         ///< as submitted
  Duration runtime{};          ///< expanded, alone on its cores; live too, the trace's
  ProcessCount requested = 0;  ///< processes, as submitted
  std::int32_t user = -1, group = -1, queue = -1, executable = -1;
  Flexibility declared = Flexibility::kMalleable;
  Flexibility flexibility = Flexibility::kMalleable;  ///< kRigid also while its processes are unable to share cores
  Phase phase = Phase::kWaiting;
  Instant on_cores_from{};  ///< of a running job: core_seconds are those before
  double core_seconds =
      0;              ///< since its launch, up to its last change; after its requeue those of the run that is over
  Allocation held{};  ///< where it runs, or ran when it was suspended; empty while it waits

  [[nodiscard]] ProcessCount processes() const { return processes_on(held, requested); }
};

/// What a job was before a change: launched if it was waiting, requeued if it waits now, suspended or resumed if the phases
/// differ otherwise, else resized.
struct Before {
  Phase phase;
  const Allocation& held;
};

/// Sums over all jobs that were submitted and have not ended.
struct Load {
  std::int64_t waiting_processors = 0;  ///< sum of the sizes of the queued jobs
  std::int64_t processes = 0;           ///< of the running jobs, suspended ones left out
  std::int32_t queued = 0;              ///< jobs submitted and not launched yet
  std::int32_t running = 0;             ///< jobs on cores
  std::int32_t suspended = 0;
  std::int32_t busy_cores = 0;    ///< with jobs on them, a core that several share once
  std::int32_t closed_cores = 0;  ///< of nodes that are not up
  std::int32_t absent_cores = 0;  ///< of these, without a job

  bool operator==(const Load&) const = default;
};

}  // namespace replay::history
