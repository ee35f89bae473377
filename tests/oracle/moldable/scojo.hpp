// The oracle of scojo: one factor sizes all jobs that can change their size so that they fit the machine together; running
// malleable jobs are resized to it from time to time. A running job's speed follows its curve (runtime model `speedup`).
#pragma once

#include "tests/oracle/moldable/sizes.hpp"
#include "tests/oracle/workload.hpp"

namespace replay::oracle {

struct Scojo {
  Aging aging = Aging::kTop;
  Time interval = 300 * kSecond;  ///< between resizes
  double threshold = 0.1;         ///< of the factor in force
};
/// REQUIRES: a flat machine. With the cores that each job has over time.
[[nodiscard]] Schedule scojo(const Workload& workload, const Scojo& rules);

}  // namespace replay::oracle
