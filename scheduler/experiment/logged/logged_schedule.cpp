#include "scheduler/experiment/logged/logged_schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "scheduler/base/error.hpp"
#include "scheduler/base/text/counted_words.hpp"
#include "traces/logged_use.hpp"

namespace replay::experiment {
namespace {

LoggedUse use_of(const TracedJobs& logged) {
  LoggedUse use;
  std::map<Duration, CoreCount> of_no_time;  // jobs that start one after the other: the widest at each instant
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const TracedJob traced = logged[i];
    if (traced.job.logged_start == kNever) continue;
    const Duration start = traced.job.logged_start.time_since_epoch();
    if (traced.truth.runtime > Duration::zero())
      use.add(start, traced.truth.runtime, cores_needed(traced.job));
    else
      of_no_time[start] = std::max(of_no_time[start], cores_needed(traced.job));
  }
  for (const auto& [start, cores] : of_no_time) use.add(start, Duration{1}, cores);
  return use;
}

}  // namespace

LoggedSchedule logged_schedule(LoadedWorkload& loaded, const std::string& trace, const std::string& policy,
                               std::vector<std::string>& notes) {
  LoggedSchedule logged{.workload = std::move(loaded.logged)};
  LoggedUse use = use_of(logged.workload.jobs);
  if (use.is_empty())
    throw InputError(
        fmt::format("{}: no job that ran has a wait (field 3), so the log does not say when its jobs started, which {} "
                    "repeats: expected a log with waits, or a policy that decides, such as easy",
                    trace, policy));
  if (const std::uint64_t missing = loaded.without_wait; missing > 0)
    notes.push_back(fmt::format("{}: {} in the log and no wait, so when it started is not known: left out", policy,
                                counted(missing, "job") + (missing == 1 ? " has a run time" : " have a run time")));
  const CoreCount stated = loaded.machine_size;
  const std::int64_t most = use.most();
  if (most <= stated) {
    logged.machine = Machine::pool(stated);
    return logged;
  }
  logged.machine = Machine::parse(fmt::format("flat:{}", most));  // throws beyond the largest
  logged.stated = stated;
  notes.push_back(
      fmt::format("{}: the log has more processors in use than the {} of its machine for {:.0f} s, {} at the most: it "
                  "runs on so many, and its figures are shares of {}",
                  policy, stated, seconds(use.above(stated)), most, stated));
  return logged;
}

}  // namespace replay::experiment
