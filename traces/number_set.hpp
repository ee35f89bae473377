// The job numbers seen so far. Logs count upwards with few gaps, so the set keeps runs of consecutive numbers: a few
// bytes for a clean log of ten million jobs, and still correct for a log with jumps.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace replay {

class NumberSet {
 public:
  NumberSet() = default;
  NumberSet(const NumberSet&) = delete;  // last_ points into runs_; a move takes both along
  NumberSet& operator=(const NumberSet&) = delete;
  NumberSet(NumberSet&&) = default;
  NumberSet& operator=(NumberSet&&) = default;
  ~NumberSet() = default;

  /// REQUIRES: number >= 0. Adds it; false if it was there. O(1) while the numbers ascend, O(log runs) otherwise.
  bool insert(std::int64_t number) {
    if (!runs_.empty() && number > last_->second) {
      if (number - 1 == last_->second)
        last_->second = number;
      else
        last_ = runs_.emplace_hint(runs_.end(), number, number);
      return true;
    }
    return insert_below(number);
  }

  [[nodiscard]] bool contains(std::int64_t number) const {
    const auto above = runs_.upper_bound(number);
    return above != runs_.begin() && number <= std::prev(above)->second;
  }

 private:
  bool insert_below(std::int64_t number) {
    if (contains(number)) return false;
    auto above = runs_.upper_bound(number);
    if (above != runs_.end() && above->first - 1 == number) {
      const std::int64_t last = above->second;
      above = runs_.erase(above);
      above = runs_.emplace_hint(above, number, last);
    } else {
      above = runs_.emplace_hint(above, number, number);
    }
    if (above != runs_.begin()) {
      const auto below = std::prev(above);
      if (below->second + 1 == above->first) {
        below->second = above->second;
        runs_.erase(above);
      }
    }
    last_ = std::prev(runs_.end());
    return true;
  }

  std::map<std::int64_t, std::int64_t> runs_;  // first number -> last number of a run
  std::map<std::int64_t, std::int64_t>::iterator last_{};
};

}  // namespace replay
