// The slices of Scojo-PECT: a fixed grid of intervals, and in each interval one slice per class, in the order short,
// medium, long. A slice keeps its planned length. G-LOMARC-TS paper, section 4.7.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduler/model/job_sizes.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

/// How medium and long jobs share an interval: by these weights.
struct SliceShare {
  std::int64_t medium, long_;
  bool operator==(const SliceShare&) const = default;
};

/// The shares by the time of the day. "30/70" is one share for all of it; "8-18=50/50,30/70" another one from 8 to 18
/// o'clock; "22-6=..." goes past midnight. The first that fits counts.
class SliceShares {
 public:
  /// Throws UsageError.
  explicit SliceShares(std::string_view text);

  [[nodiscard]] SliceShare at(Duration time_of_day) const;
  /// In the order in which they are asked; the last one is for the rest of the day.
  struct Hours {
    int from, to;  ///< 0..24
    SliceShare share;
  };
  [[nodiscard]] const std::vector<Hours>& all() const { return hours_; }

 private:
  std::vector<Hours> hours_;
};

struct Slice {
  JobClass job_class;
  Instant starts;  ///< jobs are exchanged from here on
  Instant begins;  ///< its jobs run from here on
  Instant ends;
};

struct SliceSettings {
  Duration interval;
  Duration short_slice;
  Duration overhead;
  bool overhead_at_every_slice;  ///< else only where the class changes
  SliceShares shares;
};

/// Which classes have jobs, by JobClass.
using ClassesWithJobs = std::array<bool, kJobClasses>;

/// The beginning of the interval that `now` lies in. Intervals are counted from the trace's zero.
[[nodiscard]] Instant interval_of(const SliceSettings& settings, Instant now);

/// The slices of the interval that begins at `start`, at this time of the day; `before` is the class that had the slice
/// before, if there was one. A class without jobs gives its share away; without any job medium and long keep theirs.
[[nodiscard]] std::vector<Slice> slices_of(const SliceSettings& settings, Instant start, Duration time_of_day,
                                           const ClassesWithJobs& with_jobs, const Slice* before);

/// Throws UsageError if there may be a slice that is not longer than its overhead.
void expect_useful_slices(const SliceSettings& settings);

}  // namespace replay
