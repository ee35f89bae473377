// A set of job numbers that takes the memory of its ranges: those of most traces are 1, 2, 3, ...
#pragma once

#include <cstdint>
#include <map>

#include "scheduler/model/units.hpp"

namespace replay::history {

class JobNumbers {
 public:
  /// False if it is there already. O(log ranges); O(1) for the number after the largest one.
  bool add(JobId job);
  [[nodiscard]] bool contains(JobId job) const;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // last by first; disjoint, not touching
};

}  // namespace replay::history
