// Lower bounds of where a hole can begin. While no time becomes free, a hole for a job is no earlier than that of a
// smaller and shorter job: a search begins there and skips all the holes that are too short. So placing a job in a plan
// of thousands costs about as much as in a plan of ten.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>

#include "scheduler/base/powers_of_two.hpp"
#include "scheduler/model/units.hpp"

namespace replay {

class KnownFloors {
 public:
  /// No hole for `cores` and `length` begins before this; Instant::min() if nothing is known.
  [[nodiscard]] Instant floor_for(CoreCount cores, Duration length) const {
    Instant floor = Instant::min();
    const auto widest = log2_below(cores);
    for (std::size_t width = 0; width <= widest; ++width) {
      const auto longer = by_width_[width].upper_bound(length);
      if (longer != by_width_[width].begin()) floor = std::max(floor, std::prev(longer)->second);
    }
    return floor;
  }

  /// Notes that the earliest hole of such a job begins at `start`. REQUIRES: cores >= 1.
  void note(CoreCount cores, Duration length, Instant start) {
    Floors& floors = by_width_[log2_above(cores)];
    const auto longer = floors.lower_bound(length);
    if (longer != floors.begin() && std::prev(longer)->second >= start) return;  // a shorter job gives as high a bound
    auto end = longer;
    while (end != floors.end() && end->second <= start) ++end;
    floors.emplace_hint(floors.erase(longer, end), length, start);
  }

  /// Time has become free: the bounds do not hold any more.
  void forget() {
    for (Floors& floors : by_width_) floors.clear();
  }

 private:
  using Floors = std::map<Duration, Instant>;  // both ascend
  std::array<Floors, 32> by_width_;            // of jobs of at most 2^i cores
};

}  // namespace replay
