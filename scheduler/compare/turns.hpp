// What one job had to do with groups of jobs on shared nodes and with time slices, from an event log: its groups, the
// matches that were refused, its suspensions, and when the machine belonged to another class.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/facts/node_sharing.hpp"
#include "scheduler/log/record.hpp"
#include "scheduler/model/units.hpp"

namespace replay::compare {

struct Suspension {
  Instant from{}, to = kNever;          ///< kNever: until its end, or that of the log
  std::optional<JobClass> in_favour{};  ///< the class that had the machine then, if there were slices
};

/// A group that the job was in, or one that was refused.
struct GroupOfJob {
  Instant at{};
  GroupFormed group;
  Instant ended = kNever;
};
struct RefusedMatch {
  Instant at{};
  MatchRefused match;
};

struct Turns {
  std::optional<JobClass> job_class{};   ///< of its virtual machine
  std::optional<Duration> expected{};    ///< response time expected at its submission
  std::vector<GroupOfJob> groups{};      ///< in the order of time, like the others
  std::vector<RefusedMatch> refusals{};  ///< in which it was to be the primary, or to be matched
  std::vector<Suspension> suspensions{};

  /// Until `end` where it was not resumed.
  [[nodiscard]] Duration suspended(Instant end) const;
};

/// Follows one job.
class TurnsOfJob {
 public:
  explicit TurnsOfJob(JobId job) : job_(job) {}

  /// Each record on it, and each on groups and slices.
  void note(const log::Record& record);

  /// Whether the job belongs to a virtual machine that does not have the machine now.
  [[nodiscard]] bool is_off_turn(Instant now) const;
  [[nodiscard]] const Turns& turns() const { return turns_; }

 private:
  struct OnRecord;

  JobId job_;
  Turns turns_;
  std::optional<SliceBegun> slice_{};
};

}  // namespace replay::compare
