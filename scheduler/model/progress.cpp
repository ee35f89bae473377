#include "scheduler/model/progress.hpp"

#include <algorithm>

#include "scheduler/base/error.hpp"

namespace replay {

// At end() nothing is left, even where the rounding of the end would leave a remainder: a change of rate at the instant
// of a job's end must not delay that end by a microsecond.
double Progress::left_at(Instant now) const {
  if (now >= end()) return 0;
  if (rate_ <= 0) return left_ * pace_;
  return std::max(0.0, (left_at_rate() - static_cast<double>((now - as_of_).count())) * rate_);
}

void Progress::change_rate(Instant now, double rate) {
  INVARIANT(now >= as_of_ && rate >= 0, "rate {} from {} s, last change at {} s", rate, seconds(now), seconds(as_of_));
  if (const Instant ended = end(); now >= ended) {
    left_ = 0;
    as_of_ = ended;  // an end that has passed stays where it was
  } else {
    if (rate_ > 0 && now > as_of_) {
      left_ = std::max(0.0, left_at_rate() - static_cast<double>((now - as_of_).count()));
      pace_ = rate_;
    }
    as_of_ = now;
  }
  rate_ = rate;
}

}  // namespace replay
