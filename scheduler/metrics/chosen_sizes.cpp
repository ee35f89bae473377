#include "scheduler/metrics/chosen_sizes.hpp"

#include <variant>

namespace replay::metrics {

void ChosenSizes::record(const log::Record& record) {
  const auto* const start = std::get_if<log::StartDecided>(&record.what);
  if (start != nullptr && (start->allocation.processes != 0 || start->choice.is_stated()))
    sizes_.insert_or_assign(start->job, ChosenSize{start->allocation.processes, start->choice});
}

log::Kinds ChosenSizes::kinds() const {
  log::Kinds kinds;
  kinds.set(log::kKind<log::StartDecided>);
  return kinds;
}

const ChosenSize* ChosenSizes::find(JobId job) const {
  if (sizes_.empty()) return nullptr;
  const auto found = sizes_.find(job);
  return found == sizes_.end() ? nullptr : &found->second;
}

}  // namespace replay::metrics
