// The row of a job in the tables of a run. It has what happened, not what was decided: a job waits until its cores are given
// to it (`launch`), and resizes count when they are done. Metrics, jobs.csv and the schedule in SWF come from these rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "scheduler/model/event.hpp"
#include "scheduler/model/job.hpp"
#include "scheduler/model/units.hpp"

namespace replay::metrics {

/// How long a job waited and ran, and would have run alone on its cores.
struct JobTimes {
  Duration wait;
  Duration execution;
  Duration runtime;  ///< expanded

  [[nodiscard]] Duration response() const { return wait + execution; }
  /// FCFS-malleable paper, formula (1): response over the expanded run time. NaN if that is zero.
  [[nodiscard]] double slowdown() const;
  /// max(1, response / max(expanded run time, bound)). REQUIRES: bound > 0.
  [[nodiscard]] double bounded_slowdown(Duration bound) const;
};

struct JobRow {
  JobId job{};
  Instant submitted{};        ///< when it came into the queue; later than Job::submitted where it follows another job
  Instant launched = kNever;  ///< of its last run, as all about a run below; kNever: it has none
  Instant finished = kNever;  ///< kNever: it had not ended when the log did
  Duration runtime{};         ///< expanded, alone on its cores; live too, the trace's
  Duration estimate{};        ///< as submitted
  Duration suspended{};       ///< in all; during a suspension, minus the instant of its begin
  /// Multiprogramming level integrated over the time it was on cores, in microseconds; while it is on cores, minus
  /// level times the instant from which it has had this level.
  std::int64_t mpl_time = 0;
  double cpu_use = -1;           ///< measured; -1: not measured
  double lost_core_seconds = 0;  ///< of runs that ended as a node went down
  ProcessCount processes = 0;
  CoreCount first_cores = 0;  ///< when launched
  CoreCount last_cores = 0;   ///< when it ended, or now
  CoreCount most_cores = 0;   ///< the most it ever had
  std::int32_t shrinks = 0;
  std::int32_t expands = 0;
  std::int32_t requeues = 0;  ///< runs of these after which it waited again
  std::int32_t exit_code = 0;
  std::int32_t user = -1;
  std::int32_t group = -1;
  std::int32_t queue = -1;
  std::int32_t executable = -1;
  std::int32_t mpl = 1;                   ///< when it ended, or now
  Outcome outcome = Outcome::kCompleted;  ///< if it has ended
  Verification verification = Verification::kNone;
  Flexibility flexibility = Flexibility::kMalleable;  ///< kRigid also if its processes turned out to be unable to share
  bool is_suspended = false;                          ///< now

  bool operator==(const JobRow&) const = default;
  [[nodiscard]] bool has_started() const { return launched != kNever; }
  [[nodiscard]] bool has_ended() const { return finished != kNever; }
  /// It was launched, and it ended. The times below are defined for such jobs only.
  [[nodiscard]] bool ran() const { return has_started() && has_ended(); }

  [[nodiscard]] Duration wait() const { return launched - submitted; }
  [[nodiscard]] Duration response() const { return finished - submitted; }
  [[nodiscard]] Duration execution() const { return finished - launched; }
  [[nodiscard]] JobTimes times() const { return {wait(), execution(), runtime}; }
  /// Mean multiprogramming level over the time it was on cores; the last one if that time is zero.
  [[nodiscard]] double mean_mpl() const;
};

/// Reasons for what happened to jobs, as text; empty if there are none.
class JobTexts {
 public:
  void set_reason(JobId job, std::string text) { reasons_.emplace(job, std::move(text)); }
  /// The job's processes turned out to be unable to share cores.
  void set_rigid(JobId job, std::string why) { rigid_.insert_or_assign(job, std::move(why)); }
  /// They can after all.
  void forget_rigid(JobId job) {
    if (!rigid_.empty()) rigid_.erase(job);
  }
  /// Why the job ended as it did; empty if its outcome is enough.
  [[nodiscard]] std::string_view reason(JobId job) const {
    const auto found = reasons_.find(job);
    return found == reasons_.end() ? std::string_view{} : std::string_view{found->second};
  }
  /// Why the job's processes turned out to be unable to share cores; empty: they were not.
  [[nodiscard]] std::string_view rigid_reason(JobId job) const {
    const auto found = rigid_.find(job);
    return found == rigid_.end() ? std::string_view{} : std::string_view{found->second};
  }
  void forget(JobId job) {
    if (!reasons_.empty()) reasons_.erase(job);
    forget_rigid(job);
  }

 private:
  std::unordered_map<JobId, std::string> reasons_;
  std::unordered_map<JobId, std::string> rigid_;
};

}  // namespace replay::metrics
