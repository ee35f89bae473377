#include "scheduler/audit/profile.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay::audit {

std::size_t Profile::step_at(Instant at) const {
  const auto after = std::ranges::upper_bound(steps_, at, {}, &Step::at);
  return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
}

Profile::Steps::iterator Profile::cut(Instant at) {
  const auto step = std::ranges::lower_bound(steps_, at, {}, &Step::at);
  if (step != steps_.end() && step->at == at) return step;
  const CoreCount free = step == steps_.begin() ? step->free : std::prev(step)->free;
  return steps_.insert(step, {at, free});
}

void Profile::add(Instant from, Instant to, CoreCount count) {
  if (from >= to) return;
  static_cast<void>(cut(from));
  const auto last = cut(to);
  auto first = std::ranges::lower_bound(steps_, from, {}, &Step::at);
  for (auto step = first; step != last; ++step) step->free += count;
  if (last != steps_.begin() && last->free == std::prev(last)->free) steps_.erase(last);
  first = std::ranges::lower_bound(steps_, from, {}, &Step::at);
  if (first != steps_.begin() && first->free == std::prev(first)->free) steps_.erase(first);
}

Instant Profile::first_short(Instant from, Instant to, CoreCount count) const {
  for (std::size_t step = step_at(from); step < steps_.size() && steps_[step].at < to; ++step)
    if (steps_[step].free < count && end_of(step) > from) return std::max(from, steps_[step].at);
  return kNever;
}

bool Profile::has_free(Instant from, Instant to, CoreCount count) const {
  for (std::size_t step = step_at(from); step < steps_.size() && steps_[step].at < to; ++step)
    if (steps_[step].free >= count) return true;
  return false;
}

Instant Profile::earliest(Instant from, Duration length, CoreCount count) const {
  Instant start = from;
  for (std::size_t step = step_at(from); step < steps_.size(); ++step) {
    if (steps_[step].free < count)
      start = end_of(step);
    else if (end_of(step) == kNever || end_of(step) - start >= length)
      return start;
  }
  INVARIANT(false, "{} processors are never free", count);
}

void Profile::forget_before(Instant now) {
  const std::size_t current = step_at(now);
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(current));
}

}  // namespace replay::audit
