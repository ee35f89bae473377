// The oracle of plan, and plans for other oracles: a fresh plan at every event has the waiting jobs in some order, each
// at its earliest hole among those before it.
#pragma once

#include <vector>

#include "tests/oracle/rigid_run.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class QueueOrder : std::uint8_t { kFcfs, kSjf, kLjf };

struct PlannedStart {
  std::size_t job;
  Time at;
};

/// The waiting jobs in this order, ties by (submit, number), with their planned starts.
[[nodiscard]] std::vector<PlannedStart> fresh_plan(const RigidRun& run, QueueOrder order);

/// The schedule under `plan` with this order; by arrival also that of `conservative:compress=replan`.
[[nodiscard]] Schedule plan_at_every_event(const Workload& workload, QueueOrder order, PassRule pass);

/// Sorts by planned start; ties by (submit, number).
void in_order_of_starts(const RigidRun& run, std::vector<PlannedStart>& planned);

/// Moves each planned job that no longer fits, because running jobs turned out longer, to its earliest hole. Jobs are
/// tried in the order of planned starts, ties in the order of `planned`.
void shift_what_no_longer_fits(const RigidRun& run, std::vector<PlannedStart>& planned);

/// Removes the jobs that no longer wait from `planned`.
void forget_who_left(const RigidRun& run, std::vector<PlannedStart>& planned);

/// Starts the jobs that are due, in the order of `planned`, and removes them from `planned`.
void start_what_is_due(RigidRun& run, std::vector<PlannedStart>& planned);

/// The first planned start; kNever if there is none.
[[nodiscard]] Time next_planned_start(const std::vector<PlannedStart>& planned);

}  // namespace replay::oracle
