// The life of a started job, as one table: which decisions, orders and answers of the body take it from one state to the
// next. docs/architecture.md has a drawing of it. A start makes the first state, a Finish ends each of them.
//
// A job has one order at a time with the body, besides the one that ends it: the next follows from where the answer has
// left the job and from what the plan says then (next_order()). An answer that fits no order, as it is late, repeated or out
// of turn, changes nothing. After a refusal a job that runs goes on, with its time limit, and is left alone until a
// decision changes its plan; one that was to be resumed can neither run nor wait for its limit, so it is killed
// (docs/adr/0027-a-job-that-cannot-be-resumed-is-killed.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/model/allocation.hpp"
#include "scheduler/policy/view/running_set.hpp"

namespace replay {

enum class JobStep : std::uint8_t {
  // decided
  kResizeDecided,
  kSuspendDecided,
  kResumeDecided,
  kKillDecided,
  kEstimateOver,
  // ordered
  kLaunchOrdered,
  kResizeOrdered,
  kSuspendOrdered,
  kResumeOrdered,
  // answered
  kResizeDone,
  kSuspendDone,
  kResumeDone,
  kResizeRefused,
  kSuspendRefused,
  kResumeRefused
};
inline constexpr std::size_t kJobSteps = 15;

/// The state after `step`; nothing if the step is out of turn.
[[nodiscard]] std::optional<JobState> after(JobState state, JobStep step);

/// The order that the body gets next, as soon as its cores are there; nothing: none before the next step. `held`: the cores
/// that the job has, `planned`: those that it is to have.
[[nodiscard]] std::optional<JobStep> next_order(JobState state, const Allocation& held, const Allocation& planned);

/// ActionFailed::action as a step; nothing if it names no order that has a refusal here.
[[nodiscard]] std::optional<JobStep> refusal_of(std::string_view action);

/// An order is with the body.
[[nodiscard]] constexpr bool is_with_the_body(JobState state) {
  return state.physical == Physical::kResizing || state.physical == Physical::kSuspending ||
         state.physical == Physical::kResuming;
}

/// It has cores, or is about to get them.
[[nodiscard]] constexpr bool holds_cores(JobState state) {
  return state.physical != Physical::kWaits && state.physical != Physical::kStopped;
}

/// Its time limit is kept: it runs, and will not be stopped next.
[[nodiscard]] constexpr bool has_time_limit(JobState state) {
  if (state.planned == Planned::kEnds) return false;  // it has got its end
  if (state.planned == Planned::kSuspended) return state.physical == Physical::kStays;
  return state.physical == Physical::kOnCores || state.physical == Physical::kStays ||
         state.physical == Physical::kResizing;
}

}  // namespace replay
