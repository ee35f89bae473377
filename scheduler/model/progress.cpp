#include "scheduler/model/progress.hpp"

#include <algorithm>
#include <cmath>

#include "scheduler/model/error.hpp"

namespace replay {

double Progress::left_at(Instant now) const {
  return std::max(0.0, left_ - static_cast<double>((now - as_of_).count()) * rate_);
}

void Progress::change_rate(Instant now, double rate) {
  INVARIANT(now >= as_of_ && rate >= 0, "rate {} from {} s, last change at {} s", rate, seconds(now), seconds(as_of_));
  left_ = left_at(now);
  as_of_ = now;
  rate_ = rate;
}

Instant Progress::end() const {
  if (left_ <= 0) return as_of_;
  if (rate_ <= 0) return kNever;
  const double takes = std::ceil(left_ / rate_);
  if (takes >= static_cast<double>((kNever - as_of_).count())) return kNever;
  return as_of_ + Duration{static_cast<std::int64_t>(takes)};
}

}  // namespace replay
