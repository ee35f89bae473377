#include "scheduler/metrics/chosen_sizes.hpp"

#include <variant>

namespace replay::metrics {

void ChosenSizes::on_record(const log::Record& record, const history::JobState* /*job*/) {
  const auto& start = std::get<log::StartDecided>(record.what);
  if (start.allocation.processes != 0 || start.choice.is_stated())
    sizes_.insert_or_assign(start.job, ChosenSize{start.allocation.processes, start.choice});
}

const ChosenSize* ChosenSizes::find(JobId job) const {
  if (sizes_.empty()) return nullptr;
  const auto found = sizes_.find(job);
  return found == sizes_.end() ? nullptr : &found->second;
}

}  // namespace replay::metrics
