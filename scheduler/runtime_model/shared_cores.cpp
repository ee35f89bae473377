#include "scheduler/runtime_model/shared_cores.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay {

void SharedCores::enter(JobId job, const Allocation& allocation, double cpu_use) {
  for (const CoreLoad& load : allocation.named) {
    const std::size_t core = index_of(load.core);
    if (core >= cores_.size()) cores_.resize(core + 1);
    const auto seat = std::ranges::find(cores_[core], ProcessCount{0}, &Seat::processes);
    INVARIANT(seat != cores_[core].end(), "job {} is the third on core {}", static_cast<std::int64_t>(job), load.core);
    *seat = {job, load.processes, cpu_use};
  }
}

void SharedCores::leave(JobId job, const Allocation& allocation) {
  for (const CoreLoad& load : allocation.named) {
    if (index_of(load.core) >= cores_.size()) continue;
    for (Seat& seat : cores_[index_of(load.core)])
      if (seat.job == job) seat = {};
  }
}

std::vector<JobId> SharedCores::neighbours(JobId job, const Allocation& allocation) const {
  std::vector<JobId> found;
  for (const CoreLoad& load : allocation.named)
    if (const Seat* other = other_on(load.core, job);
        other != nullptr && std::ranges::find(found, other->job) == found.end())
      found.push_back(other->job);
  return found;
}

double SharedCores::demand(JobId job, const Allocation& allocation, double cpu_use) const {
  double most = 0;
  for (const CoreLoad& load : allocation.named)
    if (const Seat* other = other_on(load.core, job))
      most = std::max(most, other->processes * other->cpu_use - (allocation.mpl - load.processes) * cpu_use);
  return most;
}

const SharedCores::Seat* SharedCores::other_on(CoreId core, JobId job) const {
  if (index_of(core) >= cores_.size()) return nullptr;
  for (const Seat& seat : cores_[index_of(core)])
    if (seat.processes > 0 && seat.job != job) return &seat;
  return nullptr;
}

}  // namespace replay
