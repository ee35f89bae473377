#include "scheduler/core/job_life.hpp"

namespace replay {
namespace {

using enum Planned;
using enum Physical;
using enum JobStep;

struct Row {
  std::optional<Planned> planned;    // empty: any
  std::optional<Physical> physical;  // empty: any
  JobStep step;
  std::optional<Planned> to_planned;    // empty: as before
  std::optional<Physical> to_physical;  // empty: as before
};
constexpr auto kAny = std::nullopt;
constexpr auto kSame = std::nullopt;

// The first row that fits counts. The steps of every job come first.
constexpr Row kRows[] = {
    {kAny, kWaits, kLaunchOrdered, kSame, kOnCores},
    {kRuns, kAny, kEstimateOver, kGone, kSame},
    {kAny, kAny, kKillDecided, kEnds, kSame},

    {kAny, kOnCores, kResizeOrdered, kSame, kResizing},
    {kAny, kOnCores, kSuspendOrdered, kSame, kSuspending},
    {kAny, kStopped, kResumeOrdered, kSame, kResuming},

    {kAny, kResizing, kResizeDone, kSame, kOnCores},
    {kAny, kSuspending, kSuspendDone, kSame, kStopped},
    {kAny, kResuming, kResumeDone, kSame, kOnCores},

    {kSuspended, kResizing, kResizeRefused, kSame, kOnCores},  // it is suspended next
    {kAny, kResizing, kResizeRefused, kSame, kStays},
    {kSuspended, kSuspending, kSuspendRefused, kSame, kStays},
    {kAny, kSuspending, kSuspendRefused, kSame, kOnCores},  // it is to run, as it does
    {kSuspended, kResuming, kResumeRefused, kSame, kStopped},
    {kAny, kResuming, kResumeRefused, kEnds, kStopped},  // it is killed

    // After a refusal a decision lets the job be asked again.
    {kRuns, kStays, kResizeDecided, kSame, kOnCores},
    {kRuns, kAny, kResizeDecided, kSame, kSame},
    {kRuns, kStays, kSuspendDecided, kSuspended, kOnCores},
    {kRuns, kAny, kSuspendDecided, kSuspended, kSame},
    {kSuspended, kStays, kResumeDecided, kRuns, kOnCores},
    {kSuspended, kAny, kResumeDecided, kRuns, kSame},
};

}  // namespace

std::optional<JobState> after(JobState state, JobStep step) {
  for (const auto& [planned, physical, taken, to_planned, to_physical] : kRows)
    if (taken == step && planned.value_or(state.planned) == state.planned &&
        physical.value_or(state.physical) == state.physical)
      return JobState{to_planned.value_or(state.planned), to_physical.value_or(state.physical)};
  return std::nullopt;
}

std::optional<JobStep> next_order(JobState state, const Allocation& held, const Allocation& planned) {
  if (state.planned == kEnds) return std::nullopt;
  if (state.planned == kSuspended) return state.physical == kOnCores ? std::optional{kSuspendOrdered} : std::nullopt;
  if (state.physical == kWaits) return kLaunchOrdered;
  if (state.physical == kStopped) return kResumeOrdered;
  return state.physical == kOnCores && held != planned ? std::optional{kResizeOrdered} : std::nullopt;
}

std::optional<JobStep> refusal_of(std::string_view action) {
  if (action == "resize") return kResizeRefused;
  if (action == "suspend") return kSuspendRefused;
  if (action == "resume") return kResumeRefused;
  return std::nullopt;
}

}  // namespace replay
