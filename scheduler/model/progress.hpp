// Work done at a rate that changes: of a budget that is used up, or of a job that runs to its end. Work is measured in
// microseconds at full speed; a rate is work per microsecond. With rate 1 all of it is exact integer arithmetic.
#pragma once

#include <cstdint>

#include "scheduler/model/units.hpp"

namespace replay {

class Progress {
 public:
  Progress() = default;
  /// `work` to do from `now` at `rate` >= 0.
  Progress(Duration work, Instant now, double rate)
      : left_(static_cast<double>(work.count())), as_of_(now), rate_(rate) {}

  /// Sets the rate from `now` on; an end that has passed stays where it was. REQUIRES: now not before the last change.
  void change_rate(Instant now, double rate);
  /// The same progress on a clock that is `by` ahead.
  [[nodiscard]] Progress shifted(Duration by) const {
    Progress progress = *this;
    progress.as_of_ += by;
    return progress;
  }
  /// More work to do.
  void add(Duration work) { left_ += static_cast<double>(work.count()); }

  /// When nothing is left at the present rate, rounded up; kNever at rate 0 with work left.
  [[nodiscard]] Instant end() const {
    if (left_ <= 0) return as_of_;
    if (rate_ <= 0) return kNever;
    const double takes = left_ / rate_;
    const auto number = [](Instant instant) { return static_cast<double>(instant.time_since_epoch().count()); };
    if (takes >= number(kNever) - number(as_of_)) return kNever;
    const auto whole = static_cast<std::int64_t>(takes);
    return as_of_ + Duration{static_cast<double>(whole) < takes ? whole + 1 : whole};
  }
  /// Work left at `now`, in microseconds, never below 0.
  [[nodiscard]] double left_at(Instant now) const;
  [[nodiscard]] double rate() const { return rate_; }

 private:
  double left_ = 0;
  Instant as_of_{};
  double rate_ = 1;
};

}  // namespace replay
