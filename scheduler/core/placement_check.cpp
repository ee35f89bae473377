#include "scheduler/core/placement_check.hpp"

#include <fmt/core.h>

#include "scheduler/model/job_sizes.hpp"

namespace replay {
namespace {

bool carries_all(const Job& job, const Allocation& allocation, const Machine& machine) {
  const ProcessCount processes = processes_on(allocation, job.processes);
  if (machine.names_cores()) return processes_on_cores(allocation) == processes;
  return allocation.cores == cores_at(processes, allocation.mpl);
}

std::string reason(const Job& job, const Allocation& allocation, const FreeCores& free, const Machine& machine) {
  const bool no_place = machine.names_cores() && allocation.named.empty();  // the controller was to choose
  if (no_place) return fmt::format("{} are free", free.total());
  if (const std::string_view flaw = flaw_of(allocation, machine); !flaw.empty()) return std::string{flaw};
  for (const CoreLoad& load : allocation.named)
    if (!free.is_free(load.core) && !(allocation.shareable && free.can_be_joined(load.core)))
      return fmt::format("core {} has no room", load.core);
  const ProcessCount processes = processes_on(allocation, job.processes);
  if (has_choice_of_size(job) && !can_start_with(job, processes))
    return fmt::format("they carry {} processes, the job runs with {}", processes, sizes_text(job));
  const ProcessCount expected = has_choice_of_size(job) ? processes : job.processes;
  if (processes != expected || !carries_all(job, allocation, machine))
    return fmt::format("they do not carry {} processes", expected);
  return fmt::format("{} are free", free.total());
}

}  // namespace

bool can_be_taken(const Job& job, const Allocation& allocation, const FreeCores& free, const Machine& machine) {
  return flaw_of(allocation, machine).empty() && free.has_room(allocation) && carries_all(job, allocation, machine) &&
         can_start_with(job, processes_on(allocation, job.processes));
}

bool can_be_resized(const Job& job, const Allocation& allocation, const FreeCores& free) {
  if (job.flexibility != Flexibility::kMalleable || !has_choice_of_size(job) || allocation.cores < 1) return false;
  const int level = mpl_on(processes_on(allocation, job.processes), allocation.cores);
  return can_start_with(job, processes_on(job, allocation.cores)) && allocation.mpl == level &&
         free.has_room(allocation);
}

std::string refusal(std::string_view action, const Job& job, const Allocation& allocation, const FreeCores& free,
                    const Machine& machine) {
  return fmt::format("the policy {} job {} on {} cores: {}", action, static_cast<std::int64_t>(job.id),
                     allocation.cores, reason(job, allocation, free, machine));
}

}  // namespace replay
