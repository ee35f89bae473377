// Work that is done at a slowdown that changes, or stands. What is left is a long double, so that its rounding errors
// are far below those of the slowdowns, which are given as doubles; an end alone is rounded, up to whole microseconds.
#pragma once

#include "tests/oracle/workload.hpp"

namespace replay::oracle {

struct Work {
  long double all = 0;   ///< microseconds at slowdown 1, done or not
  long double left = 0;  ///< at `as_of`
  Time as_of = 0;
  long double slowdown = 0;  ///< 0: it stands

  Work() = default;
  Work(Time amount, Time now, long double given) : all(amount), left(all), as_of(now), slowdown(given) {}

  void add(Time amount);
  void set_slowdown(Time now, long double given);
  /// What exceeds a whole number by a part in 10^14 of all the work counts as that number.
  [[nodiscard]] Time end() const;
};

}  // namespace replay::oracle
