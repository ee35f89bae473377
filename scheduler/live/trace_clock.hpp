// Trace time by the wall clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "scheduler/model/units.hpp"

namespace replay::live {

/// Trace time runs `1 / scale` times as fast as the wall clock, from `origin` on. Never goes back.
class TraceClock {
 public:
  /// `started`: when it was `origin`.
  TraceClock(Instant origin, double scale,
             std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now())
      : origin_(origin), scale_(scale), started_(started) {}

  Instant now() const {
    const auto real =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started_);
    return origin_ + Duration{std::llround(std::floor(static_cast<double>(real.count()) / scale_))};
  }
  /// The first instant that is not before this time of the wall clock.
  Instant at(std::chrono::steady_clock::time_point time) const {
    const auto real = std::chrono::duration_cast<std::chrono::microseconds>(time - started_);
    return origin_ + Duration{std::llround(std::min(std::ceil(static_cast<double>(real.count()) / scale_), 1e18))};
  }
  /// Wall time until `instant`, rounded up; none if it is past.
  std::chrono::microseconds until(Instant instant) const {
    const auto trace = std::max(Duration::zero(), instant - now());
    const double real = std::ceil(static_cast<double>(trace.count()) * scale_);
    return std::chrono::microseconds{std::llround(std::min(real, 1e14))};
  }

 private:
  Instant origin_;
  double scale_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace replay::live
