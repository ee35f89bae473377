#include "scheduler/model/progress.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay {

// At end() nothing is left, even where rounding would leave a remainder: a change of rate at the instant of a job's end
// must not delay that end by a microsecond.
double Progress::left_at(Instant now) const {
  if (now >= end()) return 0;
  return std::max(0.0, left_ - static_cast<double>((now - as_of_).count()) * rate_);
}

void Progress::change_rate(Instant now, double rate) {
  INVARIANT(now >= as_of_ && rate >= 0, "rate {} from {} s, last change at {} s", rate, seconds(now), seconds(as_of_));
  const Instant ended = end();
  left_ = left_at(now);
  as_of_ = left_ > 0 ? now : std::min(ended, now);  // an end that has passed stays where it was
  rate_ = rate;
}

}  // namespace replay
