#include "scheduler/core/placement_check.hpp"

#include <fmt/core.h>

namespace replay {
namespace {

// True for moldable jobs: they choose how many processes they have.
bool carries_all(const Job& job, const Allocation& allocation, const Machine& machine) {
  if (!machine.names_cores() || job.flexibility == Flexibility::kMoldable) return true;
  ProcessCount processes = 0;
  for (const CoreLoad& load : allocation.named) processes += load.processes;
  return processes == job.processes;
}

std::string reason(const Job& job, const Allocation& allocation, const FreeCores& free, const Machine& machine) {
  const bool no_place = machine.names_cores() && allocation.named.empty();  // the controller was to choose
  if (no_place) return fmt::format("{} are free", free.total());
  if (const std::string_view flaw = flaw_of(allocation, machine); !flaw.empty()) return std::string{flaw};
  for (const CoreLoad& load : allocation.named)
    if (!free.is_free(load.core) && !(allocation.shareable && free.can_be_joined(load.core)))
      return fmt::format("core {} has no room", load.core);
  if (!carries_all(job, allocation, machine)) return fmt::format("they do not carry {} processes", job.processes);
  return fmt::format("{} are free", free.total());
}

}  // namespace

bool can_be_taken(const Job& job, const Allocation& allocation, const FreeCores& free, const Machine& machine) {
  return flaw_of(allocation, machine).empty() && free.has_room(allocation) && carries_all(job, allocation, machine);
}

std::string refusal(std::string_view action, const Job& job, const Allocation& allocation, const FreeCores& free,
                    const Machine& machine) {
  return fmt::format("the policy {} job {} on {} cores: {}", action, static_cast<std::int64_t>(job.id),
                     allocation.cores, reason(job, allocation, free, machine));
}

}  // namespace replay
