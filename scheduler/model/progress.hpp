// Work done at a rate that changes: of a budget that is used up, or of a job that runs to its end. Work is measured in
// microseconds at full speed; a rate is work per microsecond. What is left is kept as the time that it takes at the
// rate of the last stretch: while that rate lasts, with suspensions in between or without, the account is exact. Each
// change of rate multiplies and divides once, and only the end is rounded (rounded_up()).
#pragma once

#include "scheduler/model/units.hpp"

namespace replay {

class Progress {
 public:
  Progress() = default;
  /// `work` to do from `now` at `rate` >= 0.
  Progress(Duration work, Instant now, double rate)
      : work_(static_cast<double>(work.count())), left_(work_), as_of_(now), rate_(rate) {}

  /// Sets the rate from `now` on; an end that has passed stays where it was. REQUIRES: now not before the last change.
  void change_rate(Instant now, double rate);
  /// The same progress on a clock that is `by` ahead.
  [[nodiscard]] Progress shifted(Duration by) const {
    Progress progress = *this;
    progress.as_of_ += by;
    return progress;
  }
  /// More work to do.
  void add(Duration work) {
    work_ += static_cast<double>(work.count());
    left_ += static_cast<double>(work.count()) / pace_;
  }

  /// When nothing is left at the present rate, rounded up; kNever at rate 0 with work left. A whole result stays whole:
  /// computation blurs it by less than a part in 10^14 of the work.
  [[nodiscard]] Instant end() const {
    if (left_ <= 0) return as_of_;
    if (rate_ <= 0) return kNever;
    const double takes = left_at_rate();
    const auto number = [](Instant instant) { return static_cast<double>(instant.time_since_epoch().count()); };
    if (takes >= number(kNever) - number(as_of_)) return kNever;
    return as_of_ + rounded_up(takes, work_ / rate_);
  }
  /// Work left at `now`, in microseconds, never below 0.
  [[nodiscard]] double left_at(Instant now) const;
  [[nodiscard]] double rate() const { return rate_; }

 private:
  // The time that the rest takes at the present rate. REQUIRES: rate_ > 0.
  [[nodiscard]] double left_at_rate() const { return rate_ == pace_ ? left_ : left_ * pace_ / rate_; }

  double work_ = 0;  // all of it, done or not
  double left_ = 0;  // at as_of_: the time that the rest takes at pace_
  double pace_ = 1;  // the last rate at which time has passed
  Instant as_of_{};
  double rate_ = 1;
};

}  // namespace replay
