#include "scheduler/policy/plan/shapes.hpp"

namespace replay {

void Shapes::assign_fitting(const Availability& plan, Instant from) {
  steps_.clear();
  for (Instant at = from; at != kNever;) {
    const CoreCount free = plan.free_at(at);
    if (free == 0) return;
    at = plan.first_below(free, at);
    steps_.push_back({at == kNever ? Duration::max() : at - from, free});
  }
}

void Shapes::exclude(CoreCount cores, Duration estimate) {
  const Duration shorter = estimate - Duration{1};
  const auto first = std::ranges::lower_bound(steps_, estimate, {}, &Step::estimate);
  const auto last = std::find_if(first, steps_.end(), [=](const Step& step) { return step.cores < cores; });
  if (first == last) return;  // none of them is in the set
  // From the first to the last step: up to `shorter` as before, then narrower.
  const Step unchanged{shorter, first->cores};
  const Step narrower{std::prev(last)->estimate, cores - 1};
  const bool begins_before = first == steps_.begin() || std::prev(first)->estimate < shorter;
  const bool joins_next = last != steps_.end() && last->cores == narrower.cores;
  auto at = steps_.erase(first, last);
  if (narrower.cores > 0 && !joins_next) at = steps_.insert(at, narrower);
  if (begins_before && shorter > Duration::zero()) steps_.insert(at, unchanged);
}

}  // namespace replay
