// Rows for spans of time that may overlap: those of one row do not.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/model/units.hpp"

namespace replay::results {

class Lanes {
 public:
  /// The row of the span, from 0: of those that are free from `from` on, the one that was used last. REQUIRES: spans come in
  /// the order of their ends. O(rows).
  std::size_t lane_of(Instant from, Instant to) {
    std::size_t best = ends_.size();
    for (std::size_t lane = 0; lane < ends_.size(); ++lane)
      if (ends_[lane] <= from && (best == ends_.size() || ends_[best] < ends_[lane])) best = lane;
    if (best == ends_.size()) ends_.push_back(to);
    ends_[best] = to;
    return best;
  }

 private:
  std::vector<Instant> ends_;
};

}  // namespace replay::results
