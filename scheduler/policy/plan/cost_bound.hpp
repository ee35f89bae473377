// A lower bound of what it costs to start jobs in a profile, in any order: the sum of weight x (start - begin). The jobs
// are poured like water into the free cores, those of the least area for their weight first. As a job of area a, length
// p and weight w uses its cores around the instant start + p / 2 on average, no schedule has a smaller sum of w x that
// average than the poured one (Smith's rule with divisible jobs).
#pragma once

#include <array>
#include <cstddef>

#include "scheduler/model/units.hpp"
#include "scheduler/policy/plan/availability.hpp"

namespace replay {

class CostBound {
 public:
  CostBound() { clear(); }
  void clear();
  /// REQUIRES: cores and weight are positive.
  void add(CoreCount cores, Duration length, double weight);
  /// The bound for the jobs added, in microseconds x weight from `begin` on, less what rounding can be; minus infinity
  /// where the profile ends before they fit. REQUIRES: begin >= free.begins(). O(steps + classes).
  [[nodiscard]] double least(const Availability& free, Instant begin) const;

 private:
  // Classes of area / weight, eight for each power of two: all jobs of a class count as its slowest one.
  static constexpr std::size_t kPerDoubling = 8;
  static constexpr std::size_t kClasses = 128 * kPerDoubling;
  struct Class {
    double area = 0;
    double slowest = 0;  // the greatest area / weight
  };
  std::array<Class, kClasses> classes_;
  std::size_t first_ = kClasses, last_ = 0;  // classes in use
  double half_ = 0;                          // sum of weight x length / 2
};

}  // namespace replay
