// A fresh plan at every event: the waiting jobs in some order, each at its earliest hole among those before it.
#pragma once

#include <utility>
#include <vector>

#include "tests/oracle/rigid_run.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

enum class QueueOrder : std::uint8_t { kFcfs, kSjf, kLjf };

struct PlannedStart {
  std::size_t job;
  Time at;
};

/// The waiting jobs in that order, ties by (submit, number), with their planned starts.
[[nodiscard]] std::vector<PlannedStart> fresh_plan(const RigidRun& run, QueueOrder order);

/// `plan`; `conservative:compress=replan` is the same by arrival.
[[nodiscard]] Schedule plan_at_every_event(const Workload& workload, QueueOrder order, PassRule pass);

/// By planned start; ties by (submit, number).
void in_order_of_starts(const RigidRun& run, std::vector<PlannedStart>& planned);

/// What is planned and did not stay possible, because running jobs turned out longer, goes to its earliest hole; in the
/// order of planned starts, and of `planned` where they are equal.
void shift_what_no_longer_fits(const RigidRun& run, std::vector<PlannedStart>& planned);

/// Starts what is due, in the order of `planned`, and takes it out of `planned`.
void start_what_is_due(RigidRun& run, std::vector<PlannedStart>& planned);

/// The first planned start; kNever without one.
[[nodiscard]] Time next_planned_start(const std::vector<PlannedStart>& planned);

}  // namespace replay::oracle
