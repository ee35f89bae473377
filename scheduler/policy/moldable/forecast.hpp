// What is expected to be submitted next: for each half-hour slot of the day and each class of jobs how many come, and
// one job that stands for all of the class. Learned from jobs that were submitted, the log's past or a training workload.
// Source: SCOJO-P paper, section 4.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "scheduler/model/speedup.hpp"
#include "scheduler/model/units.hpp"
#include "scheduler/policy/plan/class_queue.hpp"

namespace replay {

inline constexpr Duration kForecastSlot = std::chrono::minutes{30};
inline constexpr std::size_t kForecastSlots = 48;

/// What a forecast keeps of a submitted job.
struct SeenJob {
  JobClass own;
  ProcessCount optimum;  ///< N_opt
  Duration at_optimum;   ///< T(N_opt), by estimate
  ProcessCount least;    ///< sizes that it offers, those of the machine
  ProcessCount most;
  std::optional<DowneySpeedup> downey;  ///< its curve, if that is Downey's; A is the machine at most
};
[[nodiscard]] SeenJob seen_job(const ClassedJob& job, CoreCount machine);

/// The jobs of a class that were seen, as sums.
struct SeenJobs {
  std::array<std::int64_t, kForecastSlots> submitted{};  ///< by slot of the day
  double jobs = 0;
  double optimum = 0;     ///< N_opt
  double at_optimum = 0;  ///< T(N_opt), by estimate, us
  double least = 0;       ///< sizes that they offer
  double most = 0;
  double downey_jobs = 0;  ///< those of them with Downey's curve, and
  double downey_a = 0;     ///< their A
  double downey_sigma = 0;
};

class Forecast {
 public:
  /// `machine` in cores; sizes beyond it count as that.
  explicit Forecast(CoreCount machine) : machine_(machine) {}
  /// With what was seen already: the jobs of each class, and how long each slot was watched.
  Forecast(CoreCount machine, const std::array<SeenJobs, kJobClasses>& seen,
           const std::array<Duration, kForecastSlots>& watched)
      : machine_(machine), classes_(seen), watched_(watched) {}

  /// A job was submitted, so long after some midnight, perhaps days.
  void add(const SeenJob& job, Duration since_midnight);
  /// All that was submitted in [from, to) was seen: times since the same midnight. O(slots of a day).
  void watch(Duration from, Duration to);

  /// The work, core-microseconds, expected within `length` from `now` on, of jobs that are sized by `modifier`: each
  /// begins when it comes, in the middle of its slot, and counts up to the end of `length`. Nothing is expected in slots
  /// that were never watched. O(slots of two days).
  [[nodiscard]] double expected_work(Duration now, Duration length, double modifier) const;

  [[nodiscard]] const SeenJobs& seen(JobClass of) const { return classes_[static_cast<std::size_t>(of)]; }
  /// How long a slot of the day was watched, in all.
  [[nodiscard]] Duration watched(std::size_t slot) const { return watched_[slot]; }

 private:
  struct Expected;  // the job that stands for a class

  [[nodiscard]] Expected sized(const SeenJobs& seen, double modifier) const;

  CoreCount machine_;
  std::array<SeenJobs, kJobClasses> classes_{};
  std::array<Duration, kForecastSlots> watched_{};
};

}  // namespace replay
